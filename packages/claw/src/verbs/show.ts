import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { readConfig } from '../installed/config.ts';
import { readInstallation, readInstalledPackages } from '../installed/installation.ts';
import { readState } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import type { SkillPackage } from '../package/package.ts';
import { openPackage } from '../package/sources/open.ts';
import { findPackage } from '../package/sources/sources.ts';
import { fileLine } from './print-changes.ts';

/**
 * Shows what a skill is and what it brings: an applied skill as it is in the code, any other one as its source has it
 * now.
 *
 * @param wanted the name of a skill, or its source as `apply` takes it
 * @throws ClawError SKILL_NOT_FOUND, and every refusal of a package
 */
export async function show(context: EngineContext, wanted: string): Promise<VerbResult<'show'>> {
  const { root, cwd } = context;
  const state = readState(root);
  const layer = state?.layers.find(({ name }) => name === wanted);
  if (layer !== undefined) {
    const installed = readInstalledPackages(await readInstallation(root, { state }));
    const found = installed.find(({ manifest }) => manifest.skill === wanted);
    if (found !== undefined) return shown(found, layer.source, layer.version);
  }
  const found = findPackage(root, cwd, wanted);
  const options = { protectedPaths: readConfig(root).protected, projectDir: root };
  const opened = await openPackage(found, options, context);
  const name = opened.package.manifest.skill;
  const applied = state?.layers.find((one) => one.name === name)?.version ?? null;
  return shown(opened.package, found.source, applied);
}

function shown(
  { manifest }: SkillPackage,
  source: string,
  applied: string | null,
): VerbResult<'show'> {
  const { structured, fileOps } = manifest;
  const files = [
    ...manifest.adds.map((path) => ({ path, kind: 'add' as const })),
    ...manifest.modifies.map((path) => ({ path, kind: 'modify' as const })),
    ...fileOps.map((op) =>
      op.type === 'delete'
        ? { path: op.path, kind: 'delete' as const }
        : { path: op.to, kind: 'rename' as const },
    ),
  ];
  const data = {
    name: manifest.skill,
    version: manifest.version,
    description: manifest.description,
    applied,
    source,
    coreVersion: manifest.coreVersion,
    needs: manifest.depends.map(({ name, range }) => ({ name, range })),
    conflicts: manifest.conflicts,
    files: files.sort((one, other) => (one.path < other.path ? -1 : 1)),
    packages: Object.entries(structured.npmDependencies).map(([name, range]) => `${name}@${range}`),
    settings: structured.envAdditions.map(({ name, description, isSecret, isOptional }) => ({
      ...{ name, description, isSecret, isOptional },
    })),
  };
  return resultOf('show', 'done', { data });
}

/** Returns the lines of `claw show`. */
export function showLines(skill: DataOf<'show'>): readonly string[] {
  const { name, version, description, applied, needs, conflicts, files, packages } = skill;
  const isIn =
    applied === null
      ? `not in the code: \`claw apply ${name}\` adds it`
      : applied === version
        ? 'in the code'
        : `version ${applied} is in the code: \`claw upgrade ${name}\` brings this one`;
  const settings = skill.settings.map((one) => {
    const note = one.isOptional ? ' (optional)' : one.isSecret ? ' (secret)' : '';
    return `  ${one.name}${note}${one.description === null ? '' : `  ${one.description}`}`;
  });
  return [
    `${name} ${version}  ${description}`,
    `${isIn}; from ${skill.source}; for release ${skill.coreVersion}`,
    ...(needs.length === 0
      ? []
      : [`needs: ${needs.map((one) => `${one.name} ${one.range}`).join(', ')}`]),
    ...(conflicts.length === 0 ? [] : [`does not go with: ${conflicts.join(', ')}`]),
    ...(packages.length === 0 ? [] : [`npm packages: ${packages.join(', ')}`]),
    ...(settings.length === 0 ? [] : ['settings in .env:', ...settings]),
    ...(files.length === 0 ? [] : ['files:']),
    ...files.map(fileLine),
  ];
}
