import type { TreeFile } from '@patchclaw/merge';
import type { SkillPackage } from '../package/package.ts';
import { composeStructured } from '../structured/compose.ts';
import {
  type OwnStructured,
  type StructuredKind,
  structuredKind,
  structuredPaths,
} from '../structured/kind.ts';
import type { Composition } from './composition.ts';
import type { MergeContext } from './merge-context.ts';

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
  for (const { path, kind } of structuredTargets(release, context.ownStructured)) {
    const concerned = skills.filter((layer) => declares(layer, kind));
    if (concerned.length === 0) continue;
    outcomes[path] = composeFile(context, { path, kind, file: release(path) }, concerned);
  }
  return outcomes;
}

function composeFile(
  { tree, resolve }: MergeContext,
  { path, kind, file }: Target & { readonly file: TreeFile | null },
  skills: readonly SkillPackage[],
): Readonly<Record<string, unknown>> {
  const composed = composeStructured({
    path,
    kind,
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

type Target = { readonly path: string; readonly kind: StructuredKind };

/**
 * Returns the structured files to compose. Of the four names of a compose file, the release's one counts,
 * else the first.
 */
function structuredTargets(
  release: (path: string) => TreeFile | null,
  own: OwnStructured,
): readonly Target[] {
  const all = structuredPaths(own).flatMap((path): readonly Target[] => {
    const kind = structuredKind(path, own);
    return kind === null ? [] : [{ path, kind }];
  });
  const composeFiles = all.filter(({ kind }) => kind === 'compose');
  const present = composeFiles.find(({ path }) => release(path) !== null) ?? composeFiles[0];
  return all.filter((target) => target.kind !== 'compose' || target === present);
}

function declares({ manifest }: SkillPackage, kind: StructuredKind): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  switch (kind) {
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
