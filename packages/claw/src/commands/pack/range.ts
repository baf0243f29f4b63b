import { isSameFile } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import type { Installation } from '../../installed/installation.ts';
import { isProjectPath } from '../../installed/project-files.ts';
import { isGitFolder, readCommit, resolveCommit } from '../../repository/git.ts';
import type { PackedEdit } from './renames.ts';

/** The changes of a range of commits, and its two ends. */
export type RangeEdits = {
  readonly edits: readonly PackedEdit[];
  readonly first: string;
  readonly last: string;
};

/**
 * Reads what the commits of a range changed, from its first end to its last.
 *
 * @throws ClawError USAGE for a range that git does not know here
 */
export async function rangeEdits(
  { root, config }: Installation,
  range: string,
): Promise<RangeEdits> {
  const [from = '', to = ''] = range.split('..');
  const ends = isGitFolder(root)
    ? [await resolveCommit(root, from), await resolveCommit(root, to === '' ? 'HEAD' : to)]
    : [];
  const [first, last] = ends;
  if (!first || !last || from === '') {
    throw new ClawError('USAGE', `${range} is no range of commits here: give it as v1.0.0..HEAD.`);
  }
  const isCore = (path: string) => isProjectPath(path, config) && path !== 'package-lock.json';
  const before = await readCommit(root, first, isCore);
  const after = await readCommit(root, last, isCore);
  const edits = [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((edit) => !isSameFile(edit.before, edit.after));
  return { edits, first, last };
}
