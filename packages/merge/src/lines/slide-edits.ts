import type { Edits } from './interned-lines.ts';

/** Moves per line that one diff may spend, so that near-periodic texts stay fast as well. */
const MOVES_PER_LINE = 64;

type Run = { start: number; end: number };

type Lines = { readonly lines: Int32Array; readonly isEdited: Uint8Array };

/** One sequence, and the run that is being looked at: the lines between two kept ones, maybe none. */
type Side = Lines & { readonly group: Run; movesLeft: number };

/**
 * Moves each run of edits that has several equivalent positions to the expected one: beside an edit of the
 * other side if there is one, else as far down as possible.
 *
 * Where both sides of a merge made the same edit, both then show it at the same lines.
 */
export function slideEdits({ a, b, isRemoved, isAdded }: Edits): void {
  slideSide({ lines: a, isEdited: isRemoved }, { lines: b, isEdited: isAdded });
  slideSide({ lines: b, isEdited: isAdded }, { lines: a, isEdited: isRemoved });
}

function slideSide(moving: Lines, still: Lines): void {
  const mine = sideOf(moving);
  const other = sideOf(still);
  do {
    if (mine.group.start < mine.group.end) slideGroup(mine, other);
  } while (toNextGroup(mine) && toNextGroup(other));
}

function sideOf(side: Lines): Side {
  const group = { start: 0, end: runEnd(side.isEdited, 0, side.lines.length) };
  return { ...side, group, movesLeft: MOVES_PER_LINE * side.lines.length };
}

/** Slides one group. `other.group` always is the run, maybe empty, that faces `mine.group`. */
function slideGroup(mine: Side, other: Side): void {
  const { group } = mine;
  let size: number;
  let highest: number;
  let facing: number | null;
  do {
    size = group.end - group.start;
    while (slideUp(mine)) toPreviousGroup(other);
    highest = group.end;
    facing = isEmpty(other.group) ? null : group.end;
    while (slideDown(mine)) {
      toNextGroup(other);
      if (!isEmpty(other.group)) facing = group.end;
    }
    // Running into a neighbour makes one larger run, which may slide further.
  } while (size !== group.end - group.start);
  if (facing === null || group.end === highest) return;
  while (group.end > facing && slideUp(mine)) toPreviousGroup(other);
}

function isEmpty(group: Run): boolean {
  return group.start === group.end;
}

function runEnd(isEdited: Uint8Array, from: number, limit: number): number {
  let end = from;
  while (end < limit && isEdited[end] === 1) end++;
  return end;
}

function runStart(isEdited: Uint8Array, from: number): number {
  let start = from;
  while (start > 0 && isEdited[start - 1] === 1) start--;
  return start;
}

/** Moves to the run after the next kept line. */
function toNextGroup({ lines, isEdited, group }: Side): boolean {
  if (group.end === lines.length) return false;
  group.start = group.end + 1;
  group.end = runEnd(isEdited, group.start, lines.length);
  return true;
}

/** Moves to the run before the kept line above. */
function toPreviousGroup({ isEdited, group }: Side): void {
  group.end = group.start - 1;
  group.start = runStart(isEdited, group.end);
}

function slideDown(side: Side): boolean {
  const { lines, isEdited, group } = side;
  const next = group.end;
  if (next >= lines.length || lines[group.start] !== lines[next]) return false;
  if (side.movesLeft-- <= 0) return false;
  isEdited[group.start] = 0;
  isEdited[next] = 1;
  group.start++;
  group.end = runEnd(isEdited, next, lines.length);
  return true;
}

function slideUp(side: Side): boolean {
  const { lines, isEdited, group } = side;
  const previous = group.start - 1;
  if (previous < 0 || lines[previous] !== lines[group.end - 1]) return false;
  if (side.movesLeft-- <= 0) return false;
  group.end--;
  isEdited[group.end] = 0;
  isEdited[previous] = 1;
  group.start = runStart(isEdited, previous);
  return true;
}
