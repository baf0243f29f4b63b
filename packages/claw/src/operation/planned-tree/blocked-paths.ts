import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { type Conflict, OWNER, PLAN } from '../../conflict.ts';
import { listFolder } from '../../installed/claw-folder.ts';
import { lstat } from '../../package/regular-file.ts';

type FileChange = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/**
 * Finds files of a plan whose place is occupied: by a folder of the owner's at the very path, or by a
 * file where a folder would have to be. What the plan itself deletes takes no place.
 */
export function findOccupiedPlaces(
  root: string,
  changes: readonly FileChange[],
): readonly Conflict[] {
  const deleted = new Set(changes.flatMap(({ path, after }) => (after === null ? [path] : [])));
  return changes.flatMap(({ path, before, after }) => {
    if (before !== null || after === null) return [];
    const occupant = occupiedBy(root, path, deleted);
    if (occupant === null) return [];
    const reason = `This file would take the place of ${occupant}.`;
    const sides = { base: null, ours: null, theirs: after };
    const layers = [OWNER, PLAN] as const;
    return [{ path, kind: 'add-add', layers, reason, hunks: [], sides, values: null } as const];
  });
}

function occupiedBy(root: string, path: string, deleted: ReadonlySet<string>): string | null {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = parts.slice(0, depth).join('/');
    const stat = lstat(join(root, above));
    if (stat === null || deleted.has(above)) return null;
    if (!stat.isDirectory()) return `the file ${above}`;
  }
  if (lstat(join(root, path))?.isDirectory() !== true) return null;
  const below = listFolder(join(root, path)).filter((name) => !deleted.has(`${path}/${name}`));
  return below.length > 0 ? `a folder ${path}/ with files in it` : null;
}
