import type { Hunk } from '../merge/hunk.ts';
import { contentOf, splitLines } from '../merge/lines.ts';
import type { TreeFile } from '../tree.ts';
import type { Touch } from './composition.ts';

/**
 * Who is on one side of a text conflict: of its first disputed lines, the last layer before whose work
 * they did not stand in the file, in one piece; the core where they did from the beginning. Of lines
 * that the side took out, the last layer before whose work they did. Where nothing tells, the last
 * layer that touched the file.
 *
 * @param touches all work on the file, in order
 */
export function bringerOf(
  touches: readonly Touch[],
  hunks: readonly Hunk[],
  side: 'ours' | 'theirs',
): string {
  const last = touches.at(-1)?.layer ?? 'core';
  const hunk = hunks.find(({ kind }) => kind === 'conflict');
  if (hunk?.kind !== 'conflict' || touches.length === 0) return last;
  const isOut = hunk[side].length === 0;
  const lines = joined(isOut ? hunk.base : hunk[side]);
  const bringer = touches.findLast(({ before, after }) =>
    isOut
      ? holds(before, lines) && !holds(after, lines)
      : holds(after, lines) && !holds(before, lines),
  );
  if (bringer !== undefined) return bringer.layer;
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
