import { at, type Interned } from '../lines/interned-lines.ts';
import type { LineSpan, Region } from '../lines/regions.ts';
import type { Versions } from '../versions.ts';
import { joinRegions } from './join-regions.ts';

type Name = 'ours' | 'theirs';

/** One version, as it is read from some line upwards. */
type Text = {
  readonly lines: readonly string[];
  readonly numbers: Int32Array;
  /** The next line above each line that is indented less, blank ones apart; -1 without one. */
  readonly above: Int32Array;
};

/** A line that tells what those below it belong to. */
type Head = { readonly number: number; readonly place: number };

/** The steps that are left, and the occurrences of each line in a version. */
type Search = {
  steps: number;
  /** The indentation of each different line by its number, -1 for a blank one: some are met again and again. */
  readonly depthOf: (number: number) => number;
  readonly counts: (name: keyof Versions<unknown>) => Int32Array;
  readonly textOf: (name: keyof Versions<unknown>) => Text;
  /** True if one side left a line of the base where it was. */
  readonly isPaired: (place: number, name: Name) => boolean;
};

/** Lines that one merge may read in search of heads, so that no input is slow. */
const MAX_STEPS = 400_000;
const OTHER: Readonly<Record<Name, Name>> = { ours: 'theirs', theirs: 'ours' };
const WORD = /[\w\x80-\xff]/;

/**
 * Makes conflicts of edits that would land in another declaration than the one that their side edited.
 *
 * If neighbours have equal lines and one side moved one of them, alignment can pair the wrong lines. The heads of an
 * edit tell where it belongs: the lines above it that are indented less, or else the lines above it in its paragraph.
 *
 * An edit is misplaced if a head is no longer above it, and the new head is one that the base has elsewhere or that
 * itself moved. A renamed or wrapped head is no sign of that. Nor is a new head if the old one stayed: the lines were
 * extracted into a declaration of their own.
 */
export function disputeMisplacedEdits(
  regions: readonly Region[],
  texts: Interned,
  lines: Versions<readonly string[]>,
): readonly Region[] {
  const isPaired = (place: number, name: Name) =>
    regions.some(({ kind, base }) => kind !== name && base.start <= place && place < base.end);
  const depthOf = lineDepths(texts);
  const search = {
    steps: MAX_STEPS,
    depthOf,
    counts: lineCounts(texts),
    textOf: readTexts(texts, lines, depthOf),
    isPaired,
  };
  const stretches: LineSpan[] = [];
  // The last region before the present one in which that side, or both, did something.
  const last = { ours: -1, theirs: -1 };
  for (const [index, region] of regions.entries()) {
    if (region.kind === 'ours' || region.kind === 'theirs') {
      const start = last[OTHER[region.kind]];
      if (start >= 0 && isStray({ ...region, kind: region.kind }, texts, lines, search)) {
        stretches.push({ start, end: index + 1 });
      }
      last[region.kind] = index;
    } else if (region.kind === 'conflict') {
      last.ours = index;
      last.theirs = index;
    }
  }
  return stretches.length === 0 ? regions : joinRegions(regions, stretches);
}

function isStray(
  region: Versions<LineSpan> & { readonly kind: Name },
  texts: Interned,
  lines: Versions<readonly string[]>,
  search: Search,
): boolean {
  const mover = OTHER[region.kind];
  if (isAnchored(region, mover, texts, lines, search)) return false;
  const edited = firstLine(region, region.kind, lines);
  if (edited === null) return false;
  const { place, indent } = edited;
  const moved = region[mover].start + place - region.base.start;
  const heads = {
    base: headsOf(search.textOf('base'), place, indent, search),
    moved: headsOf(search.textOf(mover), moved, indent, search),
  };
  const isOnce = ({ number }: Head, name: Name | 'base') => search.counts(name)[number] === 1;
  // A text without indentation is one paragraph, so that there can be as many heads as lines.
  const numbers = {
    base: new Set(heads.base.map(({ number }) => number)),
    moved: new Set(heads.moved.map(({ number }) => number)),
  };
  const gone = heads.base.filter((head) => isOnce(head, 'base') && !numbers.moved.has(head.number));
  const come = heads.moved.filter((head) => isOnce(head, mover) && !numbers.base.has(head.number));
  if (gone.length === 0 || come.length === 0) return false;
  const isMoved = (head: Head) => isOnce(head, mover) && !search.isPaired(head.place, mover);
  return come.some((head) => isOnce(head, 'base')) || gone.some(isMoved);
}

/**
 * Tells whether the lines that an edit changed, or between which it put its own, are the only ones of their kind
 * in the base and in the other side: no equal line of another declaration can have been taken for them.
 */
function isAnchored(
  { base }: Versions<LineSpan>,
  mover: Name,
  texts: Interned,
  lines: Versions<readonly string[]>,
  { counts }: Search,
): boolean {
  const isInsertion = base.start === base.end;
  const [start, end] = isInsertion ? [base.start - 1, base.end + 1] : [base.start, base.end];
  const places = Array.from({ length: end - start }, (_, index) => start + index).filter(
    (place) => (lines.base[place] ?? '').trim() !== '',
  );
  return (
    places.length > 0 &&
    places.every((place) => {
      const number = at(texts.base, place);
      const isWord = WORD.test(lines.base[place] ?? '');
      return isWord && counts('base')[number] === 1 && counts(mover)[number] === 1;
    })
  );
}

/** Finds the first line of an edit in the base, blank lines apart, and its depth; null where all is blank. */
function firstLine(
  region: Region,
  name: Name,
  lines: Versions<readonly string[]>,
): { readonly place: number; readonly indent: number } | null {
  for (let place = region.base.start; place < region.base.end; place++) {
    const indent = depthOf(lines.base[place] ?? '');
    if (indent !== null) return { place, indent };
  }
  // An insertion after a blank line has no surroundings to compare.
  const indent = depthOf(lines[name][region[name].start] ?? '');
  return indent === null || region.base.start < region.base.end
    ? null
    : { place: region.base.start, indent };
}

/** Returns the lines above a place that are indented less, the nearest first; at depth 0 its paragraph's. */
function headsOf(
  { lines, numbers, above }: Text,
  place: number,
  depth: number,
  search: Search,
): readonly Head[] {
  const heads: Head[] = [];
  let indent = depth;
  let index = place - 1;
  while (index >= 0 && search.steps > 0) {
    search.steps--;
    const number = at(numbers, index);
    const own = search.depthOf(number);
    if (depth === 0) {
      if (own < 0) break;
      heads.push({ number, place: index });
      index--;
    } else if (own < 0) index--;
    else if (own >= indent) index = at(above, index);
    else {
      const line = lines[index] ?? '';
      const isWord = WORD.test(line);
      if (isWord) heads.push({ number, place: index });
      // A bracket on a line of its own belongs to the line above it.
      indent = isWord ? own : own + 1;
      if (indent === 0) break;
      index--;
    }
  }
  return heads;
}

/** Makes a reader of the versions, each of which is read once. */
function readTexts(
  texts: Interned,
  lines: Versions<readonly string[]>,
  depthOf: Search['depthOf'],
): Search['textOf'] {
  const known = new Map<string, Text>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const numbers = texts[name];
    const text = { lines: lines[name], numbers, above: linesAbove(numbers, depthOf) };
    known.set(name, text);
    return text;
  };
}

function linesAbove(numbers: Int32Array, depthOf: Search['depthOf']): Int32Array {
  const above = new Int32Array(numbers.length);
  const depths = new Int32Array(numbers.length);
  let last = -1;
  for (let index = 0; index < numbers.length; index++) {
    const depth = depthOf(at(numbers, index));
    let found = last;
    if (depth >= 0) {
      while (found >= 0 && at(depths, found) >= depth) found = at(above, found);
      last = index;
    }
    depths[index] = depth;
    above[index] = found;
  }
  return above;
}

/**
 * Returns the indentation of a line; null for a blank one. A closing bracket belongs to the lines it closes.
 */
function depthOf(line: string): number | null {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  const first = line[indent];
  if (first === undefined || first === '\n' || first === '\r') return null;
  return first === '}' || first === ')' || first === ']' ? indent + 1 : indent;
}

function lineDepths({ contents, size }: Interned): (number: number) => number {
  // Two more than the depth, as 0 is one that is not known yet.
  const known = new Int32Array(size);
  return (number) => {
    if (known[number] === 0) known[number] = 2 + (depthOf(contents[number] ?? '') ?? -1);
    return at(known, number) - 2;
  };
}

/** Counts the occurrences of each line in a version, at the first use. */
function lineCounts(texts: Interned): (name: keyof Versions<unknown>) => Int32Array {
  const known = new Map<string, Int32Array>();
  return (name) => {
    const counted = known.get(name);
    if (counted !== undefined) return counted;
    const counts = new Int32Array(texts.size);
    const lines = texts[name];
    for (let place = 0; place < lines.length; place++) {
      const line = at(lines, place);
      counts[line] = at(counts, line) + 1;
    }
    known.set(name, counts);
    return counts;
  };
}
