import { mapPath, type PathMap } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import { Names } from './names.ts';

/** Where the layers' renames put files: path as the core or a layer first had it → present path. */
export function renamesOf(
  layers: readonly SkillPackage[],
  pathMaps: readonly PathMap[],
): ReadonlyMap<string, string> {
  const names = new Names();
  for (const { manifest } of layers) {
    for (const op of manifest.fileOps) {
      if (op.type === 'delete') continue;
      const from = mapPath(op.from, manifest.coreVersion, pathMaps);
      const to = mapPath(op.to, manifest.coreVersion, pathMaps);
      if (names.current(from) !== to) names.move(from, to, manifest.skill);
    }
  }
  return names.all();
}
