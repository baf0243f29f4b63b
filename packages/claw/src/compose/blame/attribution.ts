import { contentOf, type Hunk, splitLines, type TreeFile } from '@patchclaw/merge';
import type { ResolvedConflict } from '../resolve-conflict.ts';

/** One layer's work on one path. */
export type Touch = {
  readonly layer: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
  /** The resolution of a conflict between this layer and those before it, if there was one. */
  readonly resolved: ResolvedConflict | null;
};

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/** Returns the author of one side of a conflict: the author of the first of its disputed lines. */
export function authorOf(
  touches: readonly Touch[],
  hunks: readonly Hunk[],
  side: 'ours' | 'theirs',
): string {
  return authorsOf(touches, hunks, side)[0] ?? touches.at(-1)?.layer ?? 'core';
}

/**
 * Returns, for each open hunk, the layer responsible for one side: the last layer that introduced these lines
 * in one piece, or removed them, if the side is empty. `core` if the release already had them; otherwise the
 * last layer that touched the file.
 *
 * @param touches all work on the file, in order
 */
export function authorsOf(
  touches: readonly Touch[],
  hunks: readonly Hunk[],
  side: 'ours' | 'theirs',
): readonly string[] {
  return hunks.flatMap((hunk) =>
    hunk.kind === 'conflict' ? [authorOfHunk(touches, hunk, side)] : [],
  );
}

function authorOfHunk(
  touches: readonly Touch[],
  hunk: ConflictHunk,
  side: 'ours' | 'theirs',
): string {
  const last = touches.at(-1)?.layer ?? 'core';
  const isOut = hunk[side].length === 0;
  const lines = joined(isOut ? hunk.base : hunk[side]);
  const found = touches.findLast(({ before, after }) =>
    isOut
      ? holds(before, lines) && !holds(after, lines)
      : holds(after, lines) && !holds(before, lines),
  );
  if (found !== undefined) return found.layer;
  return !isOut && holds(touches[0]?.before ?? null, lines) ? 'core' : last;
}

function holds(file: TreeFile | null, lines: string): boolean {
  if (file === null) return false;
  return joined(splitLines(file.bytes.toString('latin1'))).includes(lines);
}

// With a line end in front, a line matches as a whole.
function joined(lines: readonly string[]): string {
  return `\n${lines.map((line) => `${contentOf(line)}\n`).join('')}`;
}
