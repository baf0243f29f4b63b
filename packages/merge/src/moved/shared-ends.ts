import type { Hunk } from '../lines/regions.ts';
import type { Versions } from '../tree.ts';

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/** Sides of an open hunk with the lines before and after it that its base has too, and how many these are. */
export type WholeSides = Versions<readonly string[]> & {
  readonly head: number;
  readonly tail: number;
};

/**
 * Gives both sides back the lines with which they begin or end alike. A merge leaves them out of a conflict,
 * but not out of its base.
 */
export function withSharedEnds(hunks: readonly Hunk[], hunk: ConflictHunk): WholeSides {
  const index = hunks.indexOf(hunk);
  const { base, ours, theirs } = hunk;
  const above = resolvedLines(hunks[index - 1]);
  const below = resolvedLines(hunks[index + 1]);
  const isCut = (at: number) => ours.at(at) !== base.at(at) && theirs.at(at) !== base.at(at);
  const head = isCut(0) ? sharedHead(base, above) : 0;
  const tail = isCut(-1) ? sharedTail(base, below) : 0;
  const whole = (side: readonly string[]) => [
    ...base.slice(0, head),
    ...side,
    ...base.slice(base.length - tail),
  ];
  return { base, ours: whole(ours), theirs: whole(theirs), head, tail };
}

/** Counts the first lines of the base that are the last ones above. */
function sharedHead(base: readonly string[], above: readonly string[]): number {
  for (let count = Math.min(base.length, above.length); count > 0; count--) {
    if (base.slice(0, count).every((line, at) => above[above.length - count + at] === line)) {
      return count;
    }
  }
  return 0;
}

function sharedTail(base: readonly string[], below: readonly string[]): number {
  for (let count = Math.min(base.length, below.length); count > 0; count--) {
    const last = base.slice(base.length - count);
    if (last.every((line, at) => below[at] === line)) return count;
  }
  return 0;
}

function resolvedLines(hunk: Hunk | undefined): readonly string[] {
  return hunk?.kind === 'resolved' ? hunk.lines : [];
}
