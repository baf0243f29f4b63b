import { at, type Interned } from '../lines/interned-lines.ts';
import { contentOf, mapVersions, NAMES } from '../lines/lines.ts';
import { commonHead, commonTail, isEqual, type Region } from '../lines/regions.ts';
import type { Versions } from '../versions.ts';

/** The number of lines with a letter or digit that make a block. Two equal lines in a row are often chance. */
export const BLOCK = 3;
/** Lines that one merge may compare in search of blocks, so that no input is slow. */
const MAX_STEPS = 2_000_000;
/** Placeholder in the merged text for a line that is not known yet. */
const OPEN = -1;
/** How far a block may go, as {@link findReaches} tells; 0 is nowhere. */
const [BASE, CHANGE] = [1, 2];
/** Lines of a block of which the rarest one is looked up. */
const MAX_TRIED = 8;
/** Places for each run of lines, so that few share one. */
const ROOM = 8;

/** A block that both sides have, and its first line in each. */
export type Shared = { readonly ours: number; readonly theirs: number; readonly length: number };

/** A block that both sides inserted, and its first lines in the merged text: none, or more than one. */
export type BrokenBlock = Shared & { readonly merged: readonly number[] };

/** The merged text as far as it is known, and the region of each of its lines. */
export type Merged = { readonly lines: Int32Array; readonly regions: Int32Array };

type Name = keyof Versions<unknown> | 'merged';

type Search = {
  readonly ours: Int32Array;
  /** The lines of a text, read when they are first asked for. */
  readonly textOf: (name: Name) => Text;
  /** Tells of each line of ours how far a block that begins there may go. */
  readonly reaches: Uint8Array;
  /** True if a line has a letter or digit, by its number. */
  readonly isWord: (line: number) => boolean;
  steps: number;
};

/**
 * The run of lines in ours that was last found to be equal, by the distance of its lines to those of the other text:
 * most blocks begin a line above the one before.
 */
type Runs = { readonly starts: Int32Array; readonly ends: Int32Array };

/** A text of numbered lines, and the places of each of them. */
type Places = {
  readonly lines: Int32Array;
  /** The places in the order of the lines' numbers, and those of one line in order. */
  readonly sorted: Int32Array;
  /** For each line, the index of its first place; at the end, the number of places. */
  readonly starts: Int32Array;
};

/** A text with the places of each line, and the runs that ours and it have in common as far as they are known. */
type Text = { readonly places: Places; readonly runs: Runs };

/**
 * Finds a block that both sides inserted and that a merge does not keep exactly once: it has it twice or, if there
 * are no conflicts, not at all.
 *
 * A block is a run of lines, three or more of which have a letter or digit. It was inserted if the base does not have
 * it and each side has it once.
 *
 * @param readMerged called where both sides brought in some block
 */
export function* brokenBlocks(
  regions: readonly Region[],
  texts: Interned,
  readMerged: () => Merged,
): Iterable<BrokenBlock> {
  const kinds = new Set(regions.map(({ kind }) => kind));
  // The result of one side's work alone holds that side's blocks as they are.
  if (!kinds.has('resolved') && !(kinds.has('ours') && kinds.has('theirs'))) return;
  const search = openSearch(regions, texts, readMerged);
  const isClean = !kinds.has('conflict');
  let checked = { ours: 0, theirs: 0 };
  for (const block of smallestBlocks(regions, search)) {
    const places = find(search, 'merged', block.ours, block.ours + block.length);
    if (places.length > 1) yield { ...block, merged: places };
    // Below the head of one that was looked at is only more of it.
    const isChecked =
      block.ours - block.theirs === checked.ours - checked.theirs && block.ours >= checked.ours;
    if (!isClean || isChecked) continue;
    const whole = largestBlock(block, texts);
    checked = whole;
    const isLost = find(search, 'merged', whole.ours, whole.ours + whole.length).length === 0;
    if (isLost) yield { ...whole, merged: [] };
  }
}

/** Numbers the lines of the merged text. A conflict counts as one line that no text has. */
export function mergedLines(regions: readonly Region[], texts: Interned): Merged {
  const lines: number[] = [];
  const owners: number[] = [];
  for (const [index, region] of regions.entries()) {
    const before = lines.length;
    if (region.kind === 'conflict') lines.push(OPEN);
    else if (region.kind === 'resolved') {
      for (const line of region.lines) lines.push(texts.numbers.get(contentOf(line)) ?? OPEN);
    } else {
      const name = region.kind === 'theirs' ? 'theirs' : 'ours';
      for (let line = region[name].start; line < region[name].end; line++) {
        lines.push(at(texts[name], line));
      }
    }
    for (let line = before; line < lines.length; line++) owners.push(index);
  }
  return { lines: Int32Array.from(lines), regions: Int32Array.from(owners) };
}

/**
 * Finds the blocks that both sides brought in, none of which begins and ends within another one. They
 * reach into a change of ours: elsewhere a block is the base's.
 */
function* smallestBlocks(regions: readonly Region[], search: Search): Iterable<Shared> {
  let from = 0;
  for (const { kind, ours } of regions) {
    if (kind === 'all' || kind === 'theirs') continue;
    for (let place = ours.end - 1; place >= ours.start; place--) {
      const block = search.reaches[place] === CHANGE ? smallestBlock(place, search) : null;
      if (block !== null) yield block;
    }
    yield* blocksAbove(ours.start, from, search);
    from = ours.end;
    if (search.steps <= 0) return;
  }
}

/** Finds blocks that begin above a change of ours and reach into it, as far up as theirs has the same lines. */
function* blocksAbove(change: number, from: number, search: Search): Iterable<Shared> {
  let start = change - 1;
  const end = change + 1;
  if (start < from || end > search.ours.length) return;
  if (!mayReachAbove(start, from, search)) return;
  let places = findAll(search, start, end);
  let words = wordsIn(search, start) + wordsIn(search, change);
  while (places.theirs.length > 0 && search.steps > 0) {
    const isReaching = search.reaches[start] === CHANGE;
    const block = isReaching ? endBlock({ start, end, words, places }, search) : null;
    if (block !== null) yield block;
    if (block?.length === end - start || start === from) return;
    start--;
    words += wordsIn(search, start);
    search.steps -= countAll(places);
    places = mapVersions(NAMES, (name) => {
      const text = search.textOf(name);
      return places[name].flatMap((place) =>
        runEnd(search, text, start, place - 1) > start ? [place - 1] : [],
      );
    });
  }
}

/** Tells whether a block may begin at a line or above it and reach into the next line, and to a change of theirs. */
function mayReachAbove(line: number, from: number, { reaches }: Search): boolean {
  if (reaches[line] === CHANGE) return true;
  let start = line - 1;
  while (start > from && reaches[start] === BASE) start--;
  return start >= from && reaches[start] === CHANGE;
}

/** Returns the shortest block from a line of ours on that was brought in. */
function smallestBlock(start: number, search: Search): Shared | null {
  let end = start;
  for (let words = 0; words < BLOCK; end++) {
    if (end >= search.ours.length) return null;
    words += wordsIn(search, end);
  }
  return endBlock({ start, end, words: BLOCK, places: findAll(search, start, end) }, search);
}

/** Some lines of ours, how many of them have a word, and where they are in each text. */
type Run = {
  readonly start: number;
  readonly end: number;
  readonly words: number;
  readonly places: Versions<readonly number[]>;
};

/** Returns the shortest block that goes on with a run and was brought in; null where there is none. */
function endBlock(run: Run, search: Search): Shared | null {
  const { start, places } = run;
  let { end, words } = run;
  const { last: limit, place: theirs, before: second } = longestRuns('theirs', run, search);
  const [base, mine] = [longestRuns('base', run, search), longestRuns('ours', run, search)];
  for (; words < BLOCK && end < limit; end++) words += wordsIn(search, end);
  end = Math.max(end, base.last + 1, mine.last + 1, second + 1);
  search.steps -= countAll(places);
  if (words < BLOCK || end > limit || search.steps <= 0) return null;
  return { ours: start, theirs, length: end - start };
}

/**
 * Returns the longest run that ours and a text have from some places on, where it ends, and where the next one ends.
 * That each line of ours is where it is does not count.
 */
function longestRuns(name: keyof Versions<unknown>, { start, places }: Run, search: Search) {
  let [last, place, before] = [start - 1, 0, start - 1];
  const text = search.textOf(name);
  for (const at of places[name]) {
    if (name === 'ours' && at === start) continue;
    const end = runEnd(search, text, start, at);
    if (end > last) [last, place, before] = [end, at, last];
    else before = Math.max(before, end);
  }
  return { last, place, before };
}

function wordsIn({ ours, isWord }: Search, line: number): number {
  return isWord(at(ours, line)) ? 1 : 0;
}

function countAll({ base, ours, theirs }: Versions<readonly number[]>): number {
  return base.length + ours.length + theirs.length;
}

/** Finds the places of some lines of ours in each version; none at all where theirs has none. */
function findAll(search: Search, start: number, end: number): Versions<readonly number[]> {
  const theirs = find(search, 'theirs', start, end);
  if (theirs.length === 0) return { base: [], ours: [], theirs };
  return { base: find(search, 'base', start, end), ours: find(search, 'ours', start, end), theirs };
}

/** Returns all equal lines around a block. */
export function largestBlock({ ours, theirs }: Shared, texts: Interned): Shared {
  const above = commonTail(texts.ours.subarray(0, ours), texts.theirs.subarray(0, theirs));
  const below = commonHead(texts.ours.subarray(ours), texts.theirs.subarray(theirs));
  return { ours: ours - above, theirs: theirs - above, length: above + below };
}

/** Finds the places of some lines of ours in a text. */
function find(search: Search, name: Name, start: number, end: number): readonly number[] {
  const text = search.textOf(name);
  const { starts, sorted } = text.places;
  const countOf = (line: number) => at(starts, line + 1) - at(starts, line);
  let rarest = start;
  for (let place = start + 1; place < Math.min(end, start + MAX_TRIED); place++) {
    if (countOf(at(search.ours, place)) < countOf(at(search.ours, rarest))) rarest = place;
  }
  const line = at(search.ours, rarest);
  const places: number[] = [];
  for (let index = at(starts, line); index < at(starts, line + 1); index++) {
    const place = at(sorted, index) - (rarest - start);
    if (place >= 0 && runEnd(search, text, start, place) >= end) places.push(place);
  }
  search.steps -= MAX_TRIED + countOf(line);
  return places;
}

/** Returns the line of ours after the last one of a run that it has from one place on, and a text from another one. */
function runEnd(search: Search, { places, runs }: Text, start: number, place: number): number {
  const { ours } = search;
  const { lines } = places;
  const { starts, ends } = runs;
  const distance = place - start + ours.length;
  const [knownStart, knownEnd] = [at(starts, distance), at(ends, distance)];
  if (knownStart <= start && start < knownEnd) return knownEnd;
  let end = start;
  while (end < ours.length && ours[end] === lines[place + end - start]) {
    end = end === knownStart && end < knownEnd ? knownEnd : end + 1;
    search.steps--;
  }
  starts[distance] = start;
  ends[distance] = end;
  return end;
}

function openSearch(regions: readonly Region[], texts: Interned, readMerged: () => Merged): Search {
  const { ours, size } = texts;
  const known = new Map<Name, Text>();
  const textOf = (name: Name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const places = listPlaces(name === 'merged' ? readMerged().lines : texts[name], size);
    const length = ours.length + places.lines.length + 1;
    const runs = { starts: new Int32Array(length), ends: new Int32Array(length) };
    const text = { places, runs };
    known.set(name, text);
    return text;
  };
  const reaches = findReaches(regions, texts);
  return { ours, textOf, reaches, isWord: findWords(texts), steps: MAX_STEPS };
}

/**
 * Tells of each line of ours how far a block that begins there may go: nowhere, as theirs has no such three lines;
 * within lines of theirs that are the base's; or to a change of theirs, as all that theirs brought in.
 *
 * Three lines are told by a number that others may have as well, so it can be further than is true.
 */
function findReaches(regions: readonly Region[], { base, ours, theirs }: Interned): Uint8Array {
  const mask = 2 ** Math.ceil(Math.log2(ROOM * theirs.length + 1)) - 1;
  const known = new Uint8Array(mask + 1);
  for (let place = 0; place + BLOCK <= theirs.length; place++) {
    known[runAt(theirs, place) & mask] = BASE;
  }
  for (const region of regions) {
    if (region.kind === 'all') continue;
    const { start, end } = region.theirs;
    const before = base.subarray(region.base.start, region.base.end);
    if (isEqual(before, theirs.subarray(start, end))) continue;
    // Where theirs only took lines out, the line after them tells of it.
    const last = Math.min(Math.max(end, start + 1), theirs.length - BLOCK + 1);
    for (let place = Math.max(0, start - BLOCK + 1); place < last; place++) {
      known[runAt(theirs, place) & mask] = CHANGE;
    }
  }
  const reaches = new Uint8Array(ours.length);
  for (let place = ours.length - BLOCK; place >= 0; place--) {
    const own = at(known, runAt(ours, place) & mask);
    reaches[place] = own === BASE && reaches[place + 1] === CHANGE ? CHANGE : own;
  }
  return reaches;
}

/** Returns one number for the lines of a block of the smallest size. */
function runAt(lines: Int32Array, place: number): number {
  return (
    Math.imul(Math.imul(at(lines, place), 31) + at(lines, place + 1), 31) + at(lines, place + 2)
  );
}

const WORD = /[\p{L}\p{N}]/u;

/** Lists the places of every line of a text; numbers below 0 are no lines. */
function listPlaces(lines: Int32Array, size: number): Places {
  // Counted one further on: each count then moves to where its line begins while the places are put in.
  const starts = new Int32Array(size + 2);
  for (let place = 0; place < lines.length; place++) {
    const line = at(lines, place);
    if (line >= 0) starts[line + 2] = at(starts, line + 2) + 1;
  }
  for (let line = 2; line < starts.length; line++) {
    starts[line] = at(starts, line) + at(starts, line - 1);
  }
  const sorted = new Int32Array(at(starts, size + 1));
  for (let place = 0; place < lines.length; place++) {
    const line = at(lines, place);
    if (line < 0) continue;
    sorted[at(starts, line + 1)] = place;
    starts[line + 1] = at(starts, line + 1) + 1;
  }
  return { lines, sorted, starts };
}

/** Tells of lines, by their number, whether they have a letter or digit. */
export function findWords({ contents, size }: Interned): (line: number) => boolean {
  const [unknown, no, yes] = [0, 1, 2];
  const words = new Uint8Array(size);
  return (line) => {
    if (words[line] === unknown) words[line] = WORD.test(contents[line] ?? '') ? yes : no;
    return words[line] === yes;
  };
}
