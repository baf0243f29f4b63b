import type { Composition } from '../../compose/composition.ts';
import type { Installation } from '../../installed/installation.ts';
import { createProtection } from '../../package/checks/protection.ts';
import type { SkillPackage } from '../../package/package.ts';
import { structuredKind } from '../../structured/kind.ts';

/** Returns the reason that an edit stays out of a package, or null where it belongs in. */
export type Belonging = (path: string) => string | null;

/**
 * Tells which edits belong to a skill: of the files that it touches, and of the structured files that it
 * declares something for. Also new files in folders that it alone made, and edits that the author names.
 *
 * @param named paths of the project, files or folders
 */
export function createBelonging(
  installation: Installation,
  skill: SkillPackage,
  composition: Composition,
  named: readonly string[],
): Belonging {
  const { skill: name } = skill.manifest;
  const protection = createProtection(installation.config.protected);
  const made = foldersMade(installation, skill, composition);
  return (path) => {
    const glob = protection.protectedBy(path);
    if (glob !== null) return `no skill may change it: ${glob} is protected`;
    if (named.some((one) => path === one || path.startsWith(`${one}/`))) return null;
    const kind = structuredKind(path, composition.ownStructured);
    if (kind !== null) {
      return declaresFor(skill, kind)
        ? null
        : `${name} declares nothing for it; name it to take it along`;
    }
    const composed = composition.files.get(path);
    if (composed?.layers.includes(name)) return null;
    const isNew = (composed ? composed.file : installation.releaseFile(path)) === null;
    if (isNew && made.some((folder) => path.startsWith(folder))) return null;
    return isNew
      ? `it is new, in no folder that ${name} made; name it to take it along`
      : `${name} does not change this file; name it to take it along`;
  };
}

function declaresFor({ manifest }: SkillPackage, kind: string): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  const counts: Readonly<Record<string, number>> = {
    npm: Object.keys(npmDependencies).length,
    env: envAdditions.length,
    compose: Object.keys(composeServices).length,
    container: Object.keys(container.npmDependencies).length + container.aptPackages.length,
  };
  return (counts[kind] ?? 0) > 0;
}

/** Returns the folders, with a slash at their ends, that hold only this skill's files. */
function foldersMade(
  { releaseDigests }: Installation,
  { manifest }: SkillPackage,
  { files }: Composition,
): readonly string[] {
  const others = [
    ...releaseDigests.files.keys(),
    ...[...files]
      .filter(([, { layers }]) => layers.some((layer) => layer !== manifest.skill))
      .map(([path]) => path),
  ];
  const folders = manifest.adds.flatMap((path) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, at) => `${parts.slice(0, at + 1).join('/')}/`);
  });
  return [...new Set(folders)].filter((folder) => !others.some((path) => path.startsWith(folder)));
}
