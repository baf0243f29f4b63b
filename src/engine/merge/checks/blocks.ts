import type { Versions } from '../../tree.ts';
import { at } from '../lines/edits.ts';
import type { Interned } from '../lines/intern.ts';
import { mapVersions, NAMES } from '../lines/line-ends.ts';
import { contentOf } from '../lines/lines.ts';
import { commonHead, commonTail, type Region } from '../lines/regions.ts';
import { findBlock, findWords, listPlaces, type Places } from './places.ts';

/** Lines with a letter or digit that make a block. Two equal lines in a row are often chance. */
export const BLOCK = 3;
/** Lines that one merge may compare in search of blocks, so that no input is slow. */
const MAX_STEPS = 2_000_000;
/** Placeholder in the merged text for a line that is not known yet. */
const OPEN = -1;

/** A block that both sides have, and where it begins in each. */
export type Shared = { readonly ours: number; readonly theirs: number; readonly length: number };

/** A block that both sides brought in, and where it begins in the merged text: never in one place. */
export type BrokenBlock = Shared & { readonly merged: readonly number[] };

/** The merged text as far as it is known, and the region of each of its lines. */
export type Merged = { readonly lines: Int32Array; readonly regions: Int32Array };

type Name = keyof Versions<unknown> | 'merged';

type Search = Readonly<Record<Name, Int32Array>> & {
  /** The places of the lines of a text, listed when they are first asked for. */
  readonly placesIn: (name: Name) => Places;
  /** True if a line has a letter or digit, by its number. */
  readonly isWord: (line: number) => boolean;
  steps: number;
};

/**
 * Finds a block that both sides brought in and that a merge does not hold once: it has it twice, or,
 * where nothing is in dispute, not at all.
 *
 * A block is a run of lines, three or more of which have a letter or digit. It was brought in where the
 * base does not have it, and each side has it once.
 */
export function* brokenBlocks(
  regions: readonly Region[],
  merged: Merged,
  texts: Interned,
): Iterable<BrokenBlock> {
  const kinds = new Set(regions.map(({ kind }) => kind));
  // The result of one side's work alone holds that side's blocks as they are.
  if (!kinds.has('resolved') && !(kinds.has('ours') && kinds.has('theirs'))) return;
  const search = openSearch(merged, texts);
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

/** Numbers the lines of the merged text; a conflict is one line that no text has. */
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
      const block = smallestBlock(place, search);
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
  let places = findAll(search, start, end);
  let words = wordsIn(search, start) + wordsIn(search, change);
  while (places.theirs.length > 0 && search.steps > 0) {
    const block = endBlock({ start, end, words, places }, search);
    if (block !== null) yield block;
    if (block?.length === end - start || start === from) return;
    start--;
    words += wordsIn(search, start);
    search.steps -= countAll(places);
    places = mapVersions(NAMES, (name) =>
      places[name].flatMap((place) =>
        search[name][place - 1] === search.ours[start] ? [place - 1] : [],
      ),
    );
  }
}

/** Returns the shortest block from a line of ours on that was brought in. */
function smallestBlock(start: number, search: Search): Shared | null {
  let end = start;
  for (let words = 0; words < BLOCK; end++) {
    if (end >= search.ours.length) return null;
    if (search.placesIn('theirs').countOf(at(search.ours, end)) === 0) return null;
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
  const { start } = run;
  let { end, words, places } = run;
  if (places.theirs.length === 0) return null;
  while (
    words < BLOCK ||
    places.base.length > 0 ||
    places.ours.length > 1 ||
    places.theirs.length > 1
  ) {
    const line = search.ours[end];
    const offset = end - start;
    search.steps -= countAll(places);
    places = mapVersions(NAMES, (name) =>
      places[name].filter((place) => search[name][place + offset] === line),
    );
    if (line === undefined || places.theirs.length === 0 || search.steps <= 0) return null;
    words += wordsIn(search, end);
    end++;
  }
  return { ours: start, theirs: places.theirs[0] ?? 0, length: end - start };
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
  const block = search.ours.subarray(start, end);
  const { places, compared } = findBlock(search.placesIn(name), block);
  search.steps -= compared;
  return places;
}

function openSearch(merged: Merged, texts: Interned): Search {
  const { base, ours, theirs, size } = texts;
  const lines = { base, ours, theirs, merged: merged.lines };
  const known = new Map<Name, Places>();
  const placesIn = (name: Name) => {
    const places = known.get(name) ?? listPlaces(lines[name], size);
    known.set(name, places);
    return places;
  };
  return { ...lines, placesIn, isWord: findWords(texts), steps: MAX_STEPS };
}
