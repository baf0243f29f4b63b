import type { Composition } from '../../compose/composition.ts';
import { conflictFile } from '../../conflict.ts';
import { customFiles, reanchored } from '../../package/manifest/customisation.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';

/**
 * Rewrites customisations whose conflict was decided: against the present files, so that they merge cleanly
 * from here on. Such a decision is not recorded. A customisation with nothing left to change is dropped.
 */
export function refreshCustomisationBases(
  layers: readonly SkillPackage[],
  target: Composition,
  pathMaps: readonly PathMap[],
): readonly SkillPackage[] {
  return layers.flatMap((layer) => {
    if (layer.kind !== 'customisation') return [layer];
    const decided = target.resolvedConflicts
      .filter(({ decision, conflict }) => decision && conflict.layers[1] === layer.manifest.skill)
      .map(({ conflict }) => conflictFile(conflict));
    let current: SkillPackage | null = layer;
    for (const path of new Set(decided)) {
      current = current && reanchorFile(current, path, target, pathMaps);
    }
    return current === null ? [] : [current];
  });
}

function reanchorFile(
  layer: SkillPackage,
  path: string,
  { files, renames }: Composition,
  pathMaps: readonly PathMap[],
): SkillPackage | null {
  const touch = files.get(path)?.touches.findLast((one) => one.layer === layer.manifest.skill);
  if (touch === undefined) return layer;
  const presentName = (named: string) => {
    const mapped = mapPath(named, layer.manifest.coreVersion, pathMaps);
    return renames.get(mapped) ?? mapped;
  };
  const named = customFiles(layer).find((file) => presentName(file.path) === path)?.path ?? path;
  return reanchored(layer, { path: named, before: touch.before, after: touch.after });
}
