import type { TreeFile } from '@patchclaw/merge';
import { followImports } from '../compose/follow-imports.ts';
import { hasMoves, mapPath, type PathMap } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';

/** The tree that tests of packages are laid out in. */
export type TestedTree = {
  readonly pathMaps: readonly PathMap[];
  readonly has: (path: string) => boolean;
};

/**
 * Returns the files of a package with its own tests as their author would write them now: imports of a file that a
 * release has moved since are updated. All other files are unchanged.
 */
export function withFollowedTests(
  { manifest, files }: Pick<SkillPackage, 'manifest' | 'files'>,
  { pathMaps, has }: TestedTree,
): ReadonlyMap<string, TreeFile> {
  if (!hasMoves(manifest.coreVersion, pathMaps)) return files;
  const moved = (path: string) => mapPath(path, manifest.coreVersion, pathMaps);
  return new Map(
    [...files].map(([path, file]) => {
      if (!path.startsWith('tests/')) return [path, file];
      const place = `skills/${manifest.skill}/${path}`;
      return [path, followImports(file, { from: place, to: place, moved, has }).file];
    }),
  );
}
