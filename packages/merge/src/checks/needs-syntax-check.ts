import { linesOf, type Region } from '../lines/regions.ts';
import { type Format, isLanguage } from '../syntax/language.ts';
import { readNesting } from '../syntax/nesting.ts';
import type { Versions } from '../tree.ts';
import type { WordsIn } from './declared-words.ts';
import { findClashes, isAmongMembers, type Placed, type Program } from './same-scope.ts';

const BRACKETS = /[()[\]{}]/g;
/** Pairs of places that are compared; of more, a parser finds out. */
const MAX_PAIRS = 2000;

type Side = 'ours' | 'theirs';

/** What a look is worth for. */
export type Suspicion = {
  /** Each taken for all conflicts; one of them, where there are no conflicts. */
  readonly sides: readonly Side[];
  /** The names that may be declared twice; null where anything may be wrong. */
  readonly names: Set<string> | null;
};

/**
 * Finds out whether a merge may have declared a name twice, or put brackets together that do not
 * match: both sides alone must then have had a part in it. Spares most merges the parser.
 */
export function suspicionOf(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  format: Format,
  wordsIn: WordsIn,
): Suspicion {
  const of = (wanted: Region['kind']) => regions.filter(({ kind }) => kind === wanted);
  const [ours, theirs, open, resolved] = [of('ours'), of('theirs'), of('conflict'), of('resolved')];
  const parts = [ours, theirs, open].filter(({ length }) => length > 0);
  if (resolved.length === 0 && parts.length < 2) return { sides: [], names: null };
  const sides: readonly Side[] = open.length > 0 ? ['ours', 'theirs'] : ['ours'];
  // Other formats than languages are short, and rare.
  if (!isLanguage(format)) return { sides, names: null };
  const isUneven = (region: Region) => !isEven(region, lines);
  if (open.length === 0 && ours.some(isUneven) && theirs.some(isUneven))
    return { sides, names: null };
  const found = sides.map((side) => ({
    side,
    names: namesTwice(side, regions, { lines, wordsIn }),
  }));
  const suspects = found.filter(({ names }) => names?.size !== 0);
  return {
    sides: suspects.map(({ side }) => side),
    names: suspects.some(({ names }) => names === null)
      ? null
      : new Set(suspects.flatMap(({ names }) => [...(names ?? [])])),
  };
}

/** Returns the names that may be declared twice where one side is taken for all conflicts; null where they cannot be told. */
function namesTwice(
  side: Side,
  regions: readonly Region[],
  { lines, wordsIn }: { readonly lines: Versions<readonly string[]>; readonly wordsIn: WordsIn },
): ReadonlySet<string> | null {
  const placed: Record<Side | 'open', Placed[]> = { ours: [], theirs: [], open: [] };
  const resolved: (readonly Placed[])[] = [];
  const isOpen = regions.some(({ kind }) => kind === 'conflict');
  let line = 0;
  for (const region of regions) {
    const { kind } = region;
    const said = linesOf(kind === 'conflict' ? { ...region, kind: side } : region, lines);
    const start = line;
    line += said.length;
    // One side may have moved away what the other one keeps in a conflict.
    if (kind === 'conflict') placed.open.push(...placesIn(said, start, wordsIn));
    else if (kind !== 'all' && kind !== 'both') {
      // Where both changed a line, what the other side took out there it may have put elsewhere.
      const other = kind === 'ours' ? 'theirs' : kind === 'theirs' ? 'ours' : 'base';
      const before = lines[other].slice(region[other].start, region[other].end);
      const gained = gainedBy(said, before, start, wordsIn);
      if (kind === 'resolved') resolved.push(gained);
      else placed[kind].push(...gained);
    }
  }
  const { ours, theirs, open } = placed;
  const shared =
    side === 'theirs'
      ? sharedBy(ours, open)
      : [...sharedBy(ours, theirs), ...sharedBy(theirs, open)];
  let others = side === 'theirs' ? open : [...ours, ...theirs, ...open];
  for (const answer of resolved) {
    shared.push(...sharedBy(answer, others));
    others = [...others, ...answer];
  }
  if (shared.length === 0) return new Set();
  const filled = regions.flatMap((region) =>
    linesOf(region.kind === 'conflict' ? { ...region, kind: side } : region, lines),
  );
  const nesting = readNesting(filled);
  // With other words in a conflict brackets may match; these say nothing of names.
  if (nesting === null) return isOpen && isNested(lines) ? new Set() : null;
  return clashesAmong(shared, { lines: filled, nesting });
}

/** Tells whether the brackets of both sides match. */
function isNested({ ours, theirs }: Versions<readonly string[]>): boolean {
  return readNesting(ours) !== null && readNesting(theirs) !== null;
}

/** A name and the places of it in two parts of a merge. */
type Shared = {
  readonly name: string;
  readonly some: readonly Placed[];
  readonly others: readonly Placed[];
};

/** Returns the names that are at places of both kinds; one that may be a member is compared with such alone. */
function sharedBy(some: readonly Placed[], others: readonly Placed[]): Shared[] {
  const keyOf = ({ name, isMember }: Placed) => `${isMember} ${name}`;
  const theirs = Map.groupBy(others, keyOf);
  return [...Map.groupBy(some, keyOf)].flatMap(([key, mine]) => {
    const [{ name } = { name: '' }] = mine;
    const its = theirs.get(key);
    return its === undefined ? [] : [{ name, some: mine, others: its }];
  });
}

/** Returns the names that may be twice in one scope; those that are beyond what is compared, too. */
function clashesAmong(shared: readonly Shared[], program: Program): ReadonlySet<string> {
  const isClash = findClashes(program);
  const isPlace = (place: Placed) => !place.isMember || isAmongMembers(program, place);
  const found = new Set<string>();
  let left = MAX_PAIRS;
  for (const { name, some, others } of shared) {
    if (found.has(name)) continue;
    left -= some.length * others.length;
    const hasClash = () => {
      const wanted = others.filter(isPlace);
      return some.some((one) => isPlace(one) && wanted.some((other) => isClash(one, other)));
    };
    if (left < 0 || hasClash()) found.add(name);
  }
  return found;
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
