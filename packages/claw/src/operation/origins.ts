import type { LayerState } from '../installed/state-file.ts';
import { targetsOf } from '../package/checks/targets.ts';
import type { SkillPackage } from '../package/package.ts';

/** The source of a layer, and the paths of the project that it touches. */
export type Origin = Pick<LayerState, 'name' | 'source' | 'version' | 'digest' | 'commit'> & {
  readonly touches: readonly string[];
};

/** Returns the origins of the layers that a command brings; those that stay are left out. */
export function originsOf(
  layers: readonly SkillPackage[],
  installed: readonly SkillPackage[],
  pin: (layer: SkillPackage) => LayerState,
): readonly Origin[] {
  const present = new Set(installed.map(({ digest }) => digest));
  return layers
    .filter(({ kind, digest }) => kind === 'skill' && !present.has(digest))
    .map((layer) => {
      const { name, source, version, digest, commit } = pin(layer);
      const touches = targetsOf(layer.manifest);
      return { name, source, version, digest, ...(commit ? { commit } : {}), touches };
    });
}
