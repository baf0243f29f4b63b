import type { SkillPackage } from '../skill/package.ts';
import { Names } from './names.ts';

/** Where the layers' renames put files: path as the core or a layer first had it → present path. */
export function renamesOf(layers: readonly SkillPackage[]): ReadonlyMap<string, string> {
  const names = new Names();
  for (const { manifest } of layers) {
    for (const op of manifest.fileOps) {
      if (op.type !== 'delete' && names.current(op.from) !== op.to) names.move(op.from, op.to);
    }
  }
  return names.all();
}
