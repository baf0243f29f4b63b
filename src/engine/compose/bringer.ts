import { contentOf, splitLines } from '../merge/lines.ts';
import type { TreeFile } from '../tree.ts';
import type { Touch } from './composition.ts';

/**
 * Who brought lines to a composed file: the last layer before whose work they did not stand there, in one
 * piece; the core where they did from the beginning. Lines that were taken out are put down to the last
 * layer: what is not there has no traces.
 */
export function bringerOf(touches: readonly Touch[], lines: readonly string[]): string {
  const last = touches.at(-1)?.layer ?? 'core';
  if (lines.length === 0) return last;
  const wanted = joined(lines);
  const bringer = touches.findLast(
    ({ before, after }) => holds(after, wanted) && !holds(before, wanted),
  );
  if (bringer !== undefined) return bringer.layer;
  return holds(touches[0]?.before ?? null, wanted) ? 'core' : last;
}

function holds(file: TreeFile | null, wanted: string): boolean {
  if (file === null) return false;
  return joined(splitLines(file.bytes.toString('latin1'))).includes(wanted);
}

// With a line end in front, a line matches as a whole.
function joined(lines: readonly string[]): string {
  return `\n${lines.map((line) => `${contentOf(line)}\n`).join('')}`;
}
