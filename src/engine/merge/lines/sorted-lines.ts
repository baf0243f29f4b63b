import type { Versions } from '../../tree.ts';
import { orderOfNames } from '../sorted-names.ts';
import { isTelling, wordsIn } from './alike-lines.ts';
import { mapVersions, NAMES } from './line-ends.ts';
import { contentOf } from './lines.ts';
import type { Range } from './regions.ts';

/** Imports, and names alone: lines that are one item each, by what names them. */
const NAMED: readonly RegExp[] = [
  /^(?:from +(\S+) +import +[^(]+|import +([\w.]+)(?: +as +\w+)?)$/,
  /^(?:pub(?:\([^)]*\))? +)?(?:use +([^{}]+)(?:\{[^{}]*\})?|mod +(\w+))$/,
  /^(?:import|export) .*\bfrom +(['"][^'"]+['"])$/,
  /^([\w@][\w@./-]*(?:\[[^\]]*\])?)(?: *[=~<>!]=.*)?$/,
  /^(["']?[\w@$][\w@$./:*-]*["']?(?: +as +\w+)?)$/,
];
/** Lines of which one that is taken out can be missed unseen: keys with their values, and what Go imports. */
const KEPT: readonly RegExp[] = [
  /^(["']?[\w@][\w@./+-]*["']?) *: +\S.*$/,
  /^(?:[\w.]+ +)?("[\w.~-]+(?:\/[\w.~-]+)*")$/,
];
/** Lines in order, those around the stretch among them, that each version has at least: fewer are so by chance. */
const MIN_SORTED = 4;
/** Lines that are read above and below. */
const MAX_AROUND = 4;
/** More lines are a text of another kind, and slow to compare. */
const MAX_LINES = 200;
const SEPARATOR = /[,;]?$/;

type Item = { readonly key: string; readonly said: string };
type Items = readonly Item[];
type Said = Versions<readonly string[]>;

/** The words of a side, and those of its lines that the base has not. */
type Words = { readonly all: ReadonlySet<string>; readonly fresh: ReadonlySet<string> };
type ReadWords = (side: 'ours' | 'theirs') => Words;

/** Makes {@link mergeSorted} for the conflicts of one text, whose words are read once and where they are needed. */
export function sortedMerger(lines: Said): (region: Versions<Range>) => readonly string[] | null {
  const known: { ours?: Words; theirs?: Words } = {};
  const readWords: ReadWords = (side) => {
    known[side] ??= wordsOf(lines[side], lines.base);
    return known[side];
  };
  return (region) => mergeSorted(region, lines, readWords);
}

/**
 * Merges lines that are one item each and in order by name: imports, packages with their versions, names. What either
 * side put in, changed or took out is so in the result, in that order.
 *
 * @returns null where both changed one item, or an insertion may be due the other side's change; and where lines are
 *   of several kinds, or not in order in each version together with those around them
 */
function mergeSorted(
  region: Versions<Range>,
  lines: Said,
  readWords: ReadWords,
): readonly string[] | null {
  const said = mapVersions(NAMES, (name) => contentsOf(lines[name], region[name]));
  const sample = [said.ours, said.theirs, said.base].flat()[0];
  if (sample === undefined || Object.values(said).some(({ length }) => length > MAX_LINES)) {
    return null;
  }
  const indent = /^[ \t]*/.exec(sample)?.[0] ?? '';
  const ends = separatorsOf(said);
  if (ends === null) return null;
  for (const kind of [...KEPT, ...NAMED]) {
    const read = readerOf(kind, indent);
    const items = mapVersions(said, (some) => readAll(some, read));
    if (Object.values(items).some((some) => some === null)) continue;
    const known = mapVersions(items, (some) => some ?? []);
    const around = mapVersions(NAMES, (side) => itemsAround(lines[side], region[side], read));
    const order = orderOf(known, around);
    const merged = order === null ? null : mergeItems(known, readWords, NAMED.includes(kind));
    if (order === null || merged === null) return null;
    const beside = new Set(
      Object.values(around).flatMap(({ above, below }) =>
        [...above, ...below].map(({ key }) => key),
      ),
    );
    if (merged.some(({ key }) => beside.has(key))) return null;
    const sorted = merged.toSorted((one, other) => (order(one, other) ? -1 : 1));
    return sorted.map(
      (item, index) => indent + item.said + (index < sorted.length - 1 ? ends.inner : ends.last),
    );
  }
  return null;
}

function contentsOf(lines: readonly string[], { start, end }: Range): readonly string[] {
  return lines.slice(start, end).map(contentOf);
}

/** Returns what stands after each line and after the last one; null where the versions differ in it. */
function separatorsOf(said: Said): { readonly inner: string; readonly last: string } | null {
  const ends = Object.values(said).map((some) =>
    some.map((line) => SEPARATOR.exec(line)?.[0] ?? ''),
  );
  const inner = new Set(ends.flatMap((some) => some.slice(0, -1)));
  const last = new Set(ends.flatMap((some) => some.slice(-1)));
  const [end = ''] = last;
  const [between = end] = inner;
  const isEnd = between !== end;
  if (inner.size > 1 || last.size > 1 || (isEnd && ends.some(({ length }) => length === 0))) {
    return null;
  }
  return { inner: between, last: end };
}

function readerOf(kind: RegExp, indent: string): (line: string) => Item | null {
  return (line) => {
    if (!line.startsWith(indent)) return null;
    const said = line.slice(indent.length).replace(SEPARATOR, '');
    const key = kind
      .exec(said)
      ?.slice(1)
      .find((group) => group !== undefined);
    return key === undefined ? null : { key, said };
  };
}

function readAll(lines: readonly string[], read: (line: string) => Item | null): Items | null {
  const items = lines.flatMap((line) => read(line) ?? []);
  return items.length === lines.length ? items : null;
}

type Around = { readonly above: Items; readonly below: Items };

function itemsAround(
  lines: readonly string[],
  { start, end }: Range,
  read: (line: string) => Item | null,
): Around {
  const itemsFrom = (from: number, step: 1 | -1) => {
    const found: Item[] = [];
    for (let at = from; found.length < MAX_AROUND; at += step) {
      const line = lines[at];
      const item = line === undefined ? null : read(contentOf(line));
      if (item === null) break;
      found.push(item);
    }
    return found;
  };
  return { above: itemsFrom(start - 1, -1).reverse(), below: itemsFrom(end, 1) };
}

/** Finds the order in which all versions are, by whole lines or by names; null where there is none. */
function orderOf(items: Versions<Items>, around: Versions<Around>) {
  const runs = (['base', 'ours', 'theirs'] as const).map((name) => [
    ...around[name].above,
    ...items[name],
    ...around[name].below,
  ]);
  if (runs.some(({ length }) => length < MIN_SORTED)) return null;
  for (const part of ['said', 'key'] as const) {
    const order = orderOfNames(runs.map((run) => run.map((item) => item[part])));
    if (order !== null) return (one: Item, other: Item) => order(one[part], other[part]);
  }
  return null;
}

/** Merges items by name; null where the sides disagree about one, or an insertion may be due a change. */
function mergeItems(
  items: Versions<Items>,
  readWords: ReadWords,
  isRemovable: boolean,
): Items | null {
  const { base, ours, theirs } = mapVersions(items, byKey);
  if (base === null || ours === null || theirs === null) return null;
  const merged: Item[] = [];
  const [brought, replaced] = [
    { ours: '', theirs: '' },
    { ours: '', theirs: '' },
  ];
  const removed = { ours: [] as Item[], theirs: [] as Item[] };
  let isGone = false;
  for (const key of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, mine, other] = [base, ours, theirs].map((some) => some.get(key));
    const isSame = mine?.said === other?.said;
    if (!isSame && mine?.said !== before?.said && other?.said !== before?.said) return null;
    const side = mine?.said === before?.said ? 'theirs' : 'ours';
    const after = side === 'ours' ? mine : other;
    if (after !== undefined) merged.push(after);
    if (isSame && after === undefined) isGone = true;
    if (isSame) continue;
    if (after === undefined && before !== undefined) removed[side].push(before);
    else if (after === undefined) continue;
    else if (before === undefined) brought[side] += `${after.said}\n`;
    else replaced[side] += `${wordsLost(before.said, after.said).join('\n')}\n`;
  }
  if (!isRemovable && removed.ours.length + removed.theirs.length > 0) return null;
  // What both took out, one of them may have given another name.
  if (isGone && brought.ours + brought.theirs !== '') return null;
  if (isDue(replaced.ours, brought.theirs) || isDue(replaced.theirs, brought.ours)) return null;
  if (isMissed(removed.ours, 'theirs', readWords) || isMissed(removed.theirs, 'ours', readWords))
    return null;
  return merged;
}

/** Returns items by their keys; null where two have one. */
function byKey(items: Items): ReadonlyMap<string, Item> | null {
  const found = new Map(items.map((item) => [item.key, item]));
  return found.size === items.length ? found : null;
}

function wordsLost(before: string, after: string): readonly string[] {
  const kept = new Set(wordsIn(after));
  return wordsIn(before).filter((word) => isTelling(word) && !kept.has(word));
}

/** Tells whether what one side brought has a word or version that the other side replaced. */
function isDue(replaced: string, brought: string): boolean {
  const words = new Set(wordsIn(brought));
  return wordsIn(replaced).some((word) => words.has(word));
}

function wordsOf(side: readonly string[], base: readonly string[]): Words {
  const known = new Set(base);
  return {
    all: new Set(side.flatMap(wordsIn)),
    fresh: new Set(side.filter((line) => !known.has(line)).flatMap(wordsIn)),
  };
}

/** Tells whether words that one side took out, and has nowhere now, are in lines that the other side brings. */
function isMissed(removed: Items, by: 'ours' | 'theirs', readWords: ReadWords): boolean {
  if (removed.length === 0) return false;
  const [kept, brought] = [readWords(by === 'ours' ? 'theirs' : 'ours').all, readWords(by).fresh];
  return removed
    .flatMap(({ said }) => wordsLost(said, ''))
    .some((word) => !kept.has(word) && brought.has(word));
}
