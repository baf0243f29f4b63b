import { contentOf, type Hunk, mapVersions } from '../lines/lines.ts';
import type { Versions } from '../versions.ts';

export type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;
type Side = 'ours' | 'theirs';

/** Larger files are not looked through, nor those with more conflicts. */
const MAX_LINES = 20_000;
const MAX_CONFLICTS = 50;

/**
 * Opens the places to which one side moved a block that the other side edited at the old place. Both places become
 * one conflict: otherwise taking the edited block would leave it twice.
 *
 * @param versions the lines of the three files
 */
export function openNewPlaces(
  hunks: readonly Hunk[],
  versions: Versions<readonly string[]>,
): readonly Hunk[] {
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  const isLong = Object.values(versions).some(({ length }) => length > MAX_LINES);
  if (isLong || open.length > MAX_CONFLICTS) return hunks;
  const whole = mapVersions(versions, trimmed);
  return open.reduce<readonly Hunk[]>(
    (all, hunk) => openFor(all, hunk, 'ours', whole) ?? openFor(all, hunk, 'theirs', whole) ?? all,
    hunks,
  );
}

/** Returns the hunks with the place open to which one side moved a block of this one; null for none. */
function openFor(
  hunks: readonly Hunk[],
  hunk: ConflictHunk,
  mover: Side,
  versions: Versions<readonly string[]>,
): readonly Hunk[] | null {
  const editor = mover === 'ours' ? 'theirs' : 'ours';
  const sides = withSharedEnds(hunks, hunk);
  const placeOf = (before: readonly string[]) =>
    hunks.findIndex(
      (one) => one.kind === 'resolved' && placesOf(before, trimmed(one.lines)).length === 1,
    );
  const found = findEditedBlock(sides.base, sides[editor], versions[mover], ({ before }) => {
    // What the hunk still has has its new place there.
    const isThere = placesOf(before, trimmed(sides[mover])).length > 0;
    const isOnce = placesOf(before, versions.base).length === 1;
    return (
      !isThere && isOnce && placesOf(before, versions[editor]).length === 0 && placeOf(before) >= 0
    );
  });
  if (found === null) return null;
  const { before, start } = found.block;
  const index = placeOf(before);
  const there = hunks[index];
  if (there?.kind !== 'resolved') return null;
  const [at = 0] = placesOf(before, trimmed(there.lines));
  const same = (by: number) => hunk.base[start + by]?.trim() === there.lines[at + by]?.trim();
  // Something that is resolved stays between two open places.
  let from = 0;
  while (start + from > 0 && at + from > 1 && same(from - 1)) from--;
  let to = before.length;
  while (start + to < hunk.base.length && at + to < there.lines.length - 1 && same(to)) to++;
  if (at + from === 0 && index > 0) return null;
  if (at + to === there.lines.length && index < hunks.length - 1) return null;
  const block = there.lines.slice(at + from, at + to);
  const opened: ConflictHunk = { kind: 'conflict', base: [], ours: [], theirs: [], [mover]: block };
  const rest = [there.lines.slice(0, at + from), there.lines.slice(at + to)];
  const [above, below] = rest.map((lines): readonly Hunk[] =>
    lines.length === 0 ? [] : [{ kind: 'resolved', lines }],
  );
  return [
    ...hunks.slice(0, index),
    ...(above ?? []),
    opened,
    ...(below ?? []),
    ...hunks.slice(index + 1),
  ];
}

/** Unchanged lines beside an edit that tell which block was edited. */
const CONTEXT = 3;
/** Lines with a letter or digit without which a block is no particular one. */
const LEAST_WORDS = 2;

/**
 * The sides of an open hunk, with the lines before and after it that the base has too, and the numbers of these
 * lines.
 */
export type WholeSides = Versions<readonly string[]> & {
  readonly head: number;
  readonly tail: number;
};

/**
 * Gives both sides back the lines with which they begin or end alike. A merge leaves these out of a conflict, but not
 * out of its base.
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

/** A block of the base (`before`), the same block with the edit (`after`), and its first line in the base. */
export type EditedBlock = {
  readonly start: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** Returns lines without their indentation, for searching. */
export function trimmed(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.trim());
}

/**
 * Finds the block of `base` that was edited: the longest run of lines around the edit that another text has too,
 * indentation apart. Null if the other text has it more than once, or not at all.
 *
 * @param other its lines, {@link trimmed}
 * @param fits tells whether a block at a line of that text will do; where it does not, one with fewer lines around
 *   the edit is looked for
 */
export function findEditedBlock(
  base: readonly string[],
  edited: readonly string[],
  other: readonly string[],
  fits: (block: EditedBlock, at: number) => boolean,
): { readonly block: EditedBlock; readonly at: number } | null {
  const { head, tail } = commonEnds(base, edited);
  const end = base.length - tail;
  if (end > head && placesOf(base.slice(head, end), other).length === 0) return null;
  for (let around = 2 * CONTEXT; around >= 0; around--) {
    for (let above = Math.min(around, CONTEXT, head); above >= 0; above--) {
      const below = around - above;
      if (below > Math.min(CONTEXT, tail)) break;
      // An insertion is told by what it stands between.
      if (end === head && (above === 0 || below === 0)) continue;
      const before = base.slice(head - above, end + below);
      const after = edited.slice(head - above, edited.length - tail + below);
      if (before.filter(isWord).length < LEAST_WORDS) continue;
      const places = placesOf(before, other);
      if (places.length > 1) return null;
      const [at] = places;
      const block = { start: head - above, before, after };
      if (at !== undefined && fits(block, at)) return { block, at };
    }
  }
  return null;
}

/**
 * Returns a text in which a block has the edit, in the text's own indentation; null if the edit does not have the
 * block's indentation.
 */
export function withEdit(
  lines: readonly string[],
  { before, after }: EditedBlock,
  at: number,
): readonly string[] | null {
  const first = before.findIndex(isWord);
  const from = indentOf(before[first] ?? '');
  const to = indentOf(lines[at + first] ?? '');
  const isMovedAsOne = before.every((line, by) => {
    const there = contentOf(lines[at + by] ?? '');
    return line.trim() === '' || there === to + contentOf(line).slice(from.length);
  });
  const isInside = [...before, ...after].every(
    (line) => line.trim() === '' || line.startsWith(from),
  );
  if (!isMovedAsOne || !isInside) return null;
  const edited = after.map((line) => (line.trim() === '' ? line : to + line.slice(from.length)));
  return [...lines.slice(0, at), ...edited, ...lines.slice(at + before.length)];
}

/**
 * Returns the places where a text has a block, indentation apart.
 *
 * @param lines of the text, {@link trimmed}
 */
function placesOf(block: readonly string[], lines: readonly string[]): readonly number[] {
  const wanted = trimmed(block);
  const [first = ''] = wanted;
  const places: number[] = [];
  for (let at = lines.indexOf(first); at !== -1; at = lines.indexOf(first, at + 1)) {
    if (wanted.every((line, by) => lines[at + by] === line)) places.push(at);
  }
  return places;
}

function commonEnds(one: readonly string[], other: readonly string[]) {
  const shorter = Math.min(one.length, other.length);
  const isSame = (a: number, b: number) => contentOf(one[a] ?? '') === contentOf(other[b] ?? '');
  let head = 0;
  while (head < shorter && isSame(head, head)) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(one.length - 1 - tail, other.length - 1 - tail)) tail++;
  return { head, tail };
}

function isWord(line: string): boolean {
  return /[A-Za-z0-9\x80-\xff]/.test(line);
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
