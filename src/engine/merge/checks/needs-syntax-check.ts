import type { Versions } from '../../tree.ts';
import { linesOf } from '../lines/region-lines.ts';
import type { Region } from '../lines/regions.ts';
import { type Format, isLanguage } from '../syntax/language.ts';
import { readNesting } from '../syntax/nesting.ts';
import { type DeclaredWord, declaredWords } from './declared-words.ts';
import { findClashes, isAmongMembers, type Placed } from './same-scope.ts';

const BRACKETS = /[()[\]{}]/g;
/** Pairs of places that are compared; where there are more, a parser finds out. */
const MAX_PAIRS = 400;

type Side = 'ours' | 'theirs';

/**
 * Finds out whether a merge may have declared a name twice, or put brackets together that do not
 * match: both sides alone must then have had a part in it. Spares most merges the parser.
 *
 * @returns the sides that a look is worth for, each taken for all conflicts; one of them, where there
 *   are none
 */
export function sidesToCheck(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  format: Format,
): readonly Side[] {
  const of = (wanted: Region['kind']) => regions.filter(({ kind }) => kind === wanted);
  const [ours, theirs, open] = [of('ours'), of('theirs'), of('conflict')];
  const parts = [ours, theirs, open].filter(({ length }) => length > 0);
  if (parts.length < 2) return [];
  // Other formats than languages are short, and rare.
  if (!isLanguage(format)) return open.length > 0 ? ['ours', 'theirs'] : ['ours'];
  const isUneven = (region: Region) => !isEven(region, lines);
  if (open.length === 0 && ours.some(isUneven) && theirs.some(isUneven)) return ['ours'];
  const sides: readonly Side[] = open.length > 0 ? ['ours', 'theirs'] : ['ours'];
  const wordsIn = readOnce(declaredWords);
  return sides.filter((side) => mayDeclareTwice(side, regions, { lines, wordsIn }));
}

type WordsIn = (line: string) => readonly DeclaredWord[];

/** Makes a reader that reads each line once: most are in the base and in a side, and are asked for with either side. */
function readOnce(read: WordsIn): WordsIn {
  const known = new Map<string, readonly DeclaredWord[]>();
  return (line) => {
    const before = known.get(line);
    if (before !== undefined) return before;
    const words = read(line);
    known.set(line, words);
    return words;
  };
}

/** Tells whether a name may be declared twice where one side is taken for all conflicts. */
function mayDeclareTwice(
  side: Side,
  regions: readonly Region[],
  { lines, wordsIn }: { readonly lines: Versions<readonly string[]>; readonly wordsIn: WordsIn },
): boolean {
  const placed: Record<Side | 'open', Placed[]> = { ours: [], theirs: [], open: [] };
  let line = 0;
  for (const region of regions) {
    const { kind } = region;
    const said = linesOf(kind === 'conflict' ? { ...region, kind: side } : region, lines);
    const start = line;
    line += said.length;
    // One side may have moved away what the other one keeps in a conflict.
    if (kind === 'conflict') placed.open.push(...placesIn(said, start, wordsIn));
    else if (kind === 'ours' || kind === 'theirs') {
      const before = lines.base.slice(region.base.start, region.base.end);
      placed[kind].push(...gainedBy(said, before, start, wordsIn));
    }
  }
  const pairsAmong = (isWanted: (place: Placed) => boolean) => {
    const mine = placed.ours.filter(isWanted);
    const its = placed.theirs.filter(isWanted);
    const open = placed.open.filter(isWanted);
    if (side === 'theirs') return pairsOf(mine, open);
    return [...pairsOf(mine, its), ...pairsOf(its, open)];
  };
  const named = pairsAmong(({ isMember }) => !isMember);
  if (named.length > MAX_PAIRS) return true;
  const mayBeMembers = pairsAmong(({ isMember }) => isMember).length > 0;
  if (named.length === 0 && !mayBeMembers) return false;
  const filled = regions.flatMap((region) =>
    linesOf(region.kind === 'conflict' ? { ...region, kind: side } : region, lines),
  );
  const nesting = readNesting(filled);
  if (nesting === null) return true;
  const program = { lines: filled, nesting };
  const isClash = findClashes(program);
  const members = mayBeMembers
    ? pairsAmong((place) => place.isMember && isAmongMembers(program, place))
    : [];
  return (
    members.length > MAX_PAIRS || [...named, ...members].some(([one, other]) => isClash(one, other))
  );
}

/** Pairs the places of each name that is among both, as long as they are not too many. */
function pairsOf(some: readonly Placed[], others: readonly Placed[]): [Placed, Placed][] {
  const named = Map.groupBy(others, ({ name }) => name);
  const pairs: [Placed, Placed][] = [];
  for (const one of some) {
    for (const other of named.get(one.name) ?? []) pairs.push([one, other]);
    if (pairs.length > MAX_PAIRS) break;
  }
  return pairs;
}

function placesIn(lines: readonly string[], start: number, wordsIn: WordsIn): readonly Placed[] {
  return lines.flatMap((line, index) =>
    wordsIn(line).map((word) => ({ ...word, line: start + index })),
  );
}

/** Returns the names that a change may declare: more often than before, with another word, or further in. */
function gainedBy(
  lines: readonly string[],
  before: readonly string[],
  start: number,
  wordsIn: WordsIn,
): readonly Placed[] {
  const counts = new Map<string, number>();
  for (const line of before) {
    for (const { key } of wordsIn(line)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return placesIn(lines, start, wordsIn).filter(({ key }) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}

/** Tells whether a change leaves as many brackets open as there were before. */
function isEven(region: Region, lines: Versions<readonly string[]>): boolean {
  const before = lines.base.slice(region.base.start, region.base.end);
  return bracketsLeftBy(before) === bracketsLeftBy(linesOf(region, lines));
}

/** Counts the brackets of each kind that lines leave open, as one comparable word. */
function bracketsLeftBy(lines: readonly string[]): string {
  const counts = new Map([...'()[]{}'].map((bracket) => [bracket, 0]));
  for (const line of lines) {
    for (const [bracket] of line.matchAll(BRACKETS)) {
      counts.set(bracket, (counts.get(bracket) ?? 0) + 1);
    }
  }
  const left = (open: string, close: string) => (counts.get(open) ?? 0) - (counts.get(close) ?? 0);
  return `${left('(', ')')} ${left('[', ']')} ${left('{', '}')}`;
}
