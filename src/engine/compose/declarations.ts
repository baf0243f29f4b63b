import type { SkillPackage } from '../package/package.ts';
import { composeStructured } from '../structured/compose.ts';
import { STRUCTURED_PATHS, structuredKind } from '../structured/kind.ts';
import type { TreeFile } from '../tree.ts';
import type { Composition } from './composition.ts';
import type { MergeContext } from './layer.ts';

/**
 * Recomputes every structured file that a skill declares something for.
 *
 * @returns resolved ranges, ports and settings, by file
 */
export function composeDeclarations(
  context: MergeContext,
  release: (path: string) => TreeFile | null,
  skills: readonly SkillPackage[],
): Composition['structured'] {
  const outcomes: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const path of structuredTargets(release)) {
    const concerned = skills.filter((layer) => declares(layer, path));
    if (concerned.length > 0) outcomes[path] = composeFile(context, path, release(path), concerned);
  }
  return outcomes;
}

function composeFile(
  { tree, resolve }: MergeContext,
  path: string,
  file: TreeFile | null,
  skills: readonly SkillPackage[],
): Readonly<Record<string, unknown>> {
  const composed = composeStructured({
    path,
    release: file?.bytes ?? null,
    declarations: skills.map(({ manifest }) => ({
      layer: manifest.skill,
      structured: manifest.structured,
    })),
    decide: (conflict) => {
      const outcome = resolve(conflict);
      if (outcome.kind === 'open' || outcome.resolved.answer.kind !== 'value') return null;
      tree.addResolved(outcome.resolved);
      return { value: outcome.resolved.answer.value };
    },
  });
  for (const conflict of composed.conflicts) tree.conflict(conflict);
  if (composed.bytes !== null) {
    const made = { bytes: composed.bytes, isExecutable: file?.isExecutable ?? false };
    for (const { manifest } of skills) tree.put(path, made, manifest.skill);
  }
  return composed.outcome;
}

/**
 * Returns the structured files to compose. Of the four names of a compose file, the release's one counts,
 * else the first.
 */
function structuredTargets(release: (path: string) => TreeFile | null): readonly string[] {
  const composeFiles = STRUCTURED_PATHS.filter((path) => structuredKind(path) === 'compose');
  const present = composeFiles.find((path) => release(path) !== null) ?? composeFiles[0];
  return STRUCTURED_PATHS.filter((path) => structuredKind(path) !== 'compose' || path === present);
}

function declares({ manifest }: SkillPackage, path: string): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  switch (structuredKind(path)) {
    case 'npm':
      return Object.keys(npmDependencies).length > 0;
    case 'env':
      return envAdditions.length > 0;
    case 'compose':
      return Object.keys(composeServices).length > 0;
    case 'container':
      return container.aptPackages.length > 0 || Object.keys(container.npmDependencies).length > 0;
    default:
      return false;
  }
}
