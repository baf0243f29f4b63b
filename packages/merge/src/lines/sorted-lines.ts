import type { Versions } from '../versions.ts';
import { contentOf, mapVersions, NAMES } from './lines.ts';
import type { LineSpan } from './regions.ts';
import { type IsMissed, wordsIn, wordsLost } from './related-lines.ts';

/** Imports, and names alone: lines that are one item each, by what names them. */
const NAMED: readonly RegExp[] = [
  /^(?:from +(\S+) +import +[^(]+|import +([\w.]+)(?: +as +\w+)?)$/,
  /^(?:pub(?:\([^)]*\))? +)?(?:use +([^{}]+)(?:\{[^{}]*\})?|mod +(\w+))$/,
  /^(?:import|export) .*\bfrom +(['"][^'"]+['"])$/,
  /^([\w@][\w@./-]*)(?:\[[^\]]*\])?(?: *[=~<>!]=.*)?$/,
  /^(["']?[\w@$][\w@$./:*-]*["']?(?: +as +\w+)?)$/,
];
/** Names alone, which can be arguments as well. */
const LISTED = NAMED.slice(-2);
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
/**
 * Patterns for the names that an import takes, if they are not at its end: in braces, after the module, or before it.
 */
const BROUGHT: readonly RegExp[] = [
  /\{([^{}]*)\}/,
  /^from +\S+ +import +(.+)$/,
  /^(?:import|export) +(.+) +from\b/,
];
const IMPORT = /^(?:pub(?:\([^)]*\))? +)?(?:import|from|use|export|mod)\b/;
/** The number that a name begins with, as of a migration. */
const NUMBERED = /^["']?(\d{2,})/;
/** A line that opens a list whose members are told by their place. */
const CALL = /\(\s*$/;
const SEPARATOR = /[,;]?$/;

type Item = { readonly key: string; readonly said: string };
type Items = readonly Item[];
type StretchLines = Versions<readonly string[]>;

/**
 * Merges lines that are one item each and sorted by name: imports, packages with their versions, names. Every item
 * that a side inserted, changed or removed is so in the result, in that order.
 *
 * @returns null where both changed one item, or an insertion may be due the other side's change; and where lines are
 *   of several kinds, or not in order in each version together with those around them, or told by their place; and
 *   where what the sides put in says the same by two names
 */
export function mergeSorted(
  region: Versions<LineSpan>,
  lines: StretchLines,
  isMissed: IsMissed,
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
    const merged = order === null ? null : mergeItems(known, isMissed, NAMED.includes(kind));
    if (order === null || merged === null) return null;
    const beside = new Set(
      Object.values(around).flatMap(({ above, below }) =>
        [...above, ...below].map(({ key }) => key),
      ),
    );
    if (merged.some(({ key }) => beside.has(key)) || hasClash(known)) return null;
    if (LISTED.includes(kind) && isByPlace(lines.base, region.base.start, indent)) return null;
    const sorted = merged.toSorted((one, other) => (order(one, other) ? -1 : 1));
    return sorted.map(
      (item, index) => indent + item.said + (index < sorted.length - 1 ? ends.inner : ends.last),
    );
  }
  return null;
}

/**
 * Tells whether an item that one side put in and one that the other side did say the same, though not by the same name:
 * imports of one name, numbers, keys of which one holds the other in its order.
 */
function hasClash({ base, ours, theirs }: Versions<Items>): boolean {
  const known = new Set(base.map(({ said }) => said));
  const [mine, others] = [ours, theirs].map((some) => some.filter(({ said }) => !known.has(said)));
  const said = new Map(mine?.flatMap((item) => bringsOf(item).map((name) => [name, item.said])));
  return (others ?? []).some((item) => {
    const isTwice = bringsOf(item).some((name) => (said.get(name) ?? item.said) !== item.said);
    return isTwice || mine?.some((one) => isPartOf(one, item) || isPartOf(item, one)) === true;
  });
}

/** Returns the names that an item brings, if it is an import, and the number that it begins with. */
function bringsOf({ key, said }: Item): readonly string[] {
  const number = NUMBERED.exec(key)?.[1];
  if (number !== undefined) return [number];
  if (!IMPORT.test(said) && !KEPT.at(-1)?.test(said)) return [];
  const all = BROUGHT.map((pattern) => pattern.exec(said)?.[1]).find((names) => names) ?? said;
  return all.split(',').flatMap((name) => wordsIn(name).at(-1) ?? []);
}

/** Tells whether a key is another one with more behind a dash, as `margin-top` sets a part of what `margin` sets. */
function isPartOf(one: Item, other: Item): boolean {
  return one.key.startsWith(`${other.key}-`) && KEPT[0]?.test(one.said) === true;
}

/** Tells whether lines of names alone are in a call or a head, where their place tells what they are. */
function isByPlace(lines: readonly string[], start: number, indent: string): boolean {
  const opening = lines
    .slice(Math.max(0, start - MAX_LINES), start)
    .findLast((line) => line.trim() !== '' && !line.startsWith(indent));
  return opening !== undefined && CALL.test(opening) && !IMPORT.test(opening.trim());
}

function contentsOf(lines: readonly string[], { start, end }: LineSpan): readonly string[] {
  return lines.slice(start, end).map(contentOf);
}

/** Returns what stands after each line and after the last one; null where the versions differ in it. */
function separatorsOf(
  said: StretchLines,
): { readonly inner: string; readonly last: string } | null {
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
  { start, end }: LineSpan,
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

/** Tells whether a name comes before another one. */
export type Order = (one: string, other: string) => boolean;

/** Fewer names are in order by chance. */
const MIN_NAMES = 3;
/** Numbers, as of requests and issues, are not. */
const NUMBER = /^#?\d+$/;
const byNumber: Order = (one, other) =>
  Number(one.replace('#', '')) < Number(other.replace('#', ''));
const ORDERS: readonly Order[] = [
  (one, other) => one < other,
  (one, other) => one.toLowerCase() < other.toLowerCase(),
];

/** Finds the order that the names of all versions of a list have; null if there is none. */
export function orderOfNames(versions: readonly (readonly (string | null)[])[]): Order | null {
  const isNumbers =
    versions.some(({ length }) => length > 0) &&
    versions.flat().every((name) => name !== null && NUMBER.test(name));
  if (!isNumbers && versions.some(({ length }) => length < MIN_NAMES)) return null;
  const isIn = (order: Order) =>
    versions.every((names) =>
      names.every((name, index) => {
        const before = index === 0 ? '' : names[index - 1];
        return name !== null && before != null && (index === 0 || order(before, name));
      }),
    );
  return (isNumbers ? [byNumber] : ORDERS).find(isIn) ?? null;
}

/** Merges items by name; null where the sides disagree about one, or an insertion may be due a change. */
function mergeItems(
  items: Versions<Items>,
  isMissed: IsMissed,
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
  const lostBy = (side: 'ours' | 'theirs') =>
    removed[side].flatMap(({ said }) => wordsLost(said, ''));
  if (isMissed(lostBy('ours'), 'ours') || isMissed(lostBy('theirs'), 'theirs')) return null;
  return merged;
}

/** Returns items by their keys; null where two have one. */
function byKey(items: Items): ReadonlyMap<string, Item> | null {
  const found = new Map(items.map((item) => [item.key, item]));
  return found.size === items.length ? found : null;
}

/** Tells whether what one side brought has a word or version that the other side replaced. */
function isDue(replaced: string, brought: string): boolean {
  const words = new Set(wordsIn(brought));
  return wordsIn(replaced).some((word) => words.has(word));
}
