import type { Versions } from '../versions.ts';
import type { Interned } from './interned-lines.ts';
import { contentOf, mapVersions, NAMES } from './lines.ts';
import { commonHead, commonTail, isEqual, type Region } from './regions.ts';
import { isChangedLine, wordsIn } from './related-lines.ts';

const WORD = /[\p{L}\p{N}]/u;
/** More lines times lines are a rewrite, and slow to compare. */
const MAX_COMPARED = 2_000;

/** The lines of the side whose change may be a part, those of the base that it has nowhere, and the other side's. */
type ChangeContent = {
  readonly one: readonly string[];
  readonly readGone: () => readonly string[];
  readonly other: readonly string[];
  /** The content of each line, by its number. */
  readonly contents: readonly string[];
};

/** `keepsBreaks` is true for Markdown, where two spaces at the end of a line break it. */
type Texts = {
  readonly texts: Interned;
  readonly lines: Versions<readonly string[]>;
  readonly keepsBreaks: boolean;
};

/**
 * Resolves the conflicts in which the sides do not disagree: one side made all of the other's change, in one piece,
 * and more; or they differ only in white space at the ends of lines. Returns the same array if there are none.
 */
export function resolveSameChanges(regions: readonly Region[], texts: Texts): readonly Region[] {
  const resolved = regions.map((region) => resolveSameChange(region, texts));
  return resolved.some((region, index) => region !== regions[index]) ? resolved : regions;
}

function resolveSameChange(region: Region, { texts, lines, keepsBreaks }: Texts): Region {
  if (region.kind !== 'conflict') return region;
  const { base, ours, theirs } = mapVersions(NAMES, (name) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  const said = mapVersions(NAMES, (name) =>
    lines[name].slice(region[name].start, region[name].end).map(contentOf),
  );
  if (base.length === 0 && ours.length !== theirs.length) {
    const [less, larger] =
      ours.length < theirs.length ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    const isWord = said[less].some((line) => WORD.test(line));
    const [one, other] = less === 'ours' ? [ours, theirs] : [theirs, ours];
    const [start = -1] = isWord ? runsOf(other, one) : [];
    const isSame = start >= 0 && isInSameBlock(said[larger].slice(0, start), said[less]);
    return isSame ? { ...region, kind: larger } : region;
  }
  const saidBy = (one: 'ours' | 'theirs', other: 'ours' | 'theirs'): ChangeContent => {
    const readGone = () => said.base.filter((_, index) => !texts[one].includes(base[index] ?? -1));
    return { readGone, one: said[one], other: said[other], contents: texts.contents };
  };
  const [isOurs, isTheirs] = [
    hasChange(base, theirs, ours, saidBy('theirs', 'ours')),
    hasChange(base, ours, theirs, saidBy('ours', 'theirs')),
  ];
  // Equal lines can make both readings right: then nothing tells which is.
  if (isOurs !== isTheirs) return { ...region, kind: isOurs ? 'ours' : 'theirs' };
  const isSame =
    ours.length === theirs.length &&
    said.ours.every((line, index) => trimmed(line) === trimmed(said.theirs[index] ?? ''));
  if (!isSame) return region;
  const known = new Set(said.base);
  const resolved = said.ours.map((mine, index) =>
    endOf(mine, said.theirs[index] ?? mine, { known, keepsBreaks }),
  );
  return { ...region, kind: 'resolved', lines: resolved, rule: 'layout' };
}

/**
 * Tells whether the change that one side makes of the base is a part of the other side's: both insert the same
 * lines at the same place, where the other one also changes the base's; or the other one has all lines of the one,
 * which brought some of them, as a run, and beside it none of the base's, as they were or changed.
 */
function hasChange(
  base: Int32Array,
  one: Int32Array,
  other: Int32Array,
  said: ChangeContent,
): boolean {
  const brings = said.one.some(
    (line, index) => WORD.test(line) && !base.includes(one[index] ?? -1),
  );
  if (!brings) return false;
  const inserted = one.length - base.length;
  if (isWithin(base, one, other, said.contents)) return other.length > inserted;
  const [start] = runsOf(other, one);
  if (start === undefined || other.length === one.length) return false;
  if (!isInSameBlock(said.other.slice(0, start), said.one)) return false;
  if (base.length * other.length > MAX_COMPARED) return false;
  const end = start + one.length;
  // A line of one word is like too many others.
  const gone = said.readGone().filter((line) => wordsIn(line).length > 1);
  return said.other.every((line, index) => {
    if (index >= start && index < end) return true;
    // A line that the one side took out and the other one changed is not part of it.
    if (base.includes(other[index] ?? -1)) return false;
    return !gone.some((before) => isChangedLine(before, line, said.one));
  });
}

/**
 * Tells whether one side is the base with an inserted block, and the other side has that block and, before or after
 * it, the base's own lines.
 *
 * @param contents of each line, by its number
 */
export function isWithin(
  base: Int32Array,
  one: Int32Array,
  other: Int32Array,
  contents: readonly string[],
): boolean {
  const { length } = one;
  const inserted = length - base.length;
  const head = commonHead(base, one);
  if (inserted < 1 || head + commonTail(base, one) < base.length) return false;
  if (commonHead(one, other) + commonTail(one, base) >= length) return true;
  const tail = commonTail(one, other);
  if (tail + head < length) return false;
  // Lines that the other one has above what was put in, more than the base, could begin another block.
  const start = Math.max(base.length - commonTail(base, one), length - tail);
  const place = other.length - length + start;
  if (place <= start) return true;
  const read = (numbers: Int32Array) => Array.from(numbers, (line) => contents[line] ?? '');
  const same = Math.min(commonHead(base.subarray(0, start), other), place);
  return isInSameBlock(
    read(other.subarray(same, place)),
    read(one.subarray(start, start + inserted)),
  );
}

/** Returns the line that changed; where both did, the one without space at its end, a break of Markdown apart. */
function endOf(
  mine: string,
  other: string,
  { known, keepsBreaks }: { readonly known: ReadonlySet<string>; readonly keepsBreaks: boolean },
): string {
  if (known.has(mine) !== known.has(other)) return known.has(mine) ? other : mine;
  const [shorter, longer] = mine.length < other.length ? [mine, other] : [other, mine];
  return keepsBreaks && longer.endsWith('  ') ? longer : shorter;
}

/**
 * Returns a line without spaces and tabs at its end; other white space can be a part of a letter, as lines are
 * bytes. Not by a pattern, which would begin once more at each space of a long run.
 */
function trimmed(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end--;
  return line.slice(0, end);
}

/** Returns the places at which a text contains all lines of another one, in a row. */
export function runsOf(text: Int32Array, run: Int32Array): readonly number[] {
  const places: number[] = [];
  for (let start = 0; start + run.length <= text.length; start++) {
    if (isEqual(text.subarray(start, start + run.length), run)) places.push(start);
  }
  return places;
}

/** The head of a section, which what stands below it belongs to although it is indented no further. */
const SECTION =
  /^[ \t]*(?:\[[^\]]*\]+[ \t]*$|#{2,6}[ \t]|#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b|([-=~^])\1{2,}[ \t]*$)/;

/**
 * Tells whether lines are in the same block as the text above some lines in between, in any language. They are not if
 * a line in between is indented less, as the head and the end of another block are, or is the head of a section.
 *
 * Sections may follow each other if the lines are sections themselves.
 */
export function isInSameBlock(between: readonly string[], lines: readonly string[]): boolean {
  const said = lines.filter((line) => line.trim() !== '');
  const least = said.reduce((indent, line) => Math.min(indent, indentOf(line)), Infinity);
  const isSection = SECTION.test(said[0] ?? '');
  return between.every(
    (line) => line.trim() === '' || (indentOf(line) >= least && (isSection || !SECTION.test(line))),
  );
}

/** Counts the spaces and tabs at the head of a line. */
function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  return indent;
}
