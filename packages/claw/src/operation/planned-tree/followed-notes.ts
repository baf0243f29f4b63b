import type { FollowedImport } from '../../compose/composition.ts';
import type { TargetPlan } from './planned-tree.ts';

/**
 * Lists the imports of layers that an operation writes with another path, because a release moved their
 * targets.
 */
export function followedNotes({ target, changes }: TargetPlan): readonly string[] {
  const changed = new Set(changes.map(({ path }) => path));
  const groups = new Map<string, FollowedImport[]>();
  for (const one of target.followed) {
    if (!changed.has(one.path)) continue;
    const key = `Imports of ${one.from} follow it to ${one.to}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].map(([what, imports]) => {
    const count = new Set(imports.map(({ path }) => path)).size;
    const layers = [...new Set(imports.map(({ layer }) => layer))].join(' and ');
    return `${what} in ${count} ${count === 1 ? 'file' : 'files'} of ${layers}.`;
  });
}
