import { orderOfNames } from '../lines/sorted-lines.ts';
import type { Versions } from '../versions.ts';
import type { ImportStatement } from './import-statements.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** The imports of one version by their keys, in order. */
export type Imports = ReadonlyMap<string, ImportStatement>;

/** Merges imports by their modules; null where the sides disagree. */
export function mergeAll(imports: Versions<Imports>): Imports | null {
  const { base, ours, theirs } = imports;
  const merged = new Map<string, ImportStatement>();
  const change = { isGone: false, isBrought: false };
  for (const key of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, mine, other] = [base, ours, theirs].map((some) => some.get(key));
    if (mine === undefined && other === undefined) {
      change.isGone = true;
      continue;
    }
    if (mine === undefined || other === undefined) {
      const kept = mine ?? other;
      if (kept === undefined) return null;
      if (before === undefined) {
        change.isBrought = true;
        merged.set(key, kept);
      } else if (!isSame(before, kept)) return null;
      continue;
    }
    const one = mergeOne({ before, mine, other }, change);
    if (one === null) return null;
    merged.set(key, one);
  }
  // What both took out, one of them may have given another name.
  if (change.isGone && change.isBrought) return null;
  return hasNameTwice(merged) ? null : merged;
}

type Pair = {
  readonly before: ImportStatement | undefined;
  readonly mine: ImportStatement;
  readonly other: ImportStatement;
};

/** Merges two imports of one module by their names; null where both changed one, each differently. */
function mergeOne(
  { before, mine, other }: Pair,
  change: { isGone: boolean; isBrought: boolean },
): ImportStatement | null {
  const whole = mergeValue(before?.whole ?? '', mine.whole, other.whole);
  if (whole === null) return null;
  const were = before?.names ?? NONE;
  const own = mine.names ?? NONE;
  const its = other.names ?? NONE;
  const lists = { base: [...were.keys()], ours: [...own.keys()], theirs: [...its.keys()] };
  const names = new Map<string, string>();
  for (const name of orderOf(lists)) {
    const said = mergeValue(were.get(name), own.get(name), its.get(name));
    if (said === null) return null;
    if (said === undefined) continue;
    if (!were.has(name) && own.has(name) !== its.has(name)) change.isBrought = true;
    names.set(name, said);
  }
  if (lists.base.some((name) => !own.has(name) && !its.has(name))) change.isGone = true;
  // An import of nothing runs its module all the same.
  if (names.size === 0 && whole === '' && own.size + its.size > 0) return null;
  // How it is declared, its quotes and what ends it are changes as well.
  const head = mergeValue(before?.head ?? mine.head, mine.head, other.head);
  const tail = mergeValue(before?.tail ?? mine.tail, mine.tail, other.tail);
  if (head === null || tail === null) return null;
  if (before === undefined && (head !== mine.head || tail !== mine.tail)) return null;
  const list = names.size > 0 ? names : mine.names && NONE;
  const merged = { ...mine, whole, head, tail, names: list };
  if (isSame(merged, mine) && !isMoved(lists)) return inLayoutOf(other, mine, before);
  const swapped = { base: lists.base, ours: lists.theirs, theirs: lists.ours };
  if (isSame(merged, other) && !isMoved(swapped)) return inLayoutOf(mine, other, before);
  return { ...merged, lines: writeImport(merged, [mine, other]) };
}

/**
 * Returns an import as one side changed it, laid out as the other side has it where that changed nothing but whether the
 * names have a line each.
 */
function inLayoutOf(
  layout: ImportStatement,
  changed: ImportStatement,
  before: ImportStatement | undefined,
): ImportStatement {
  if (before === undefined || !isSame(before, layout)) return changed;
  const isOnLines = ({ lines }: ImportStatement) => lines.length > 1;
  if (isOnLines(before) === isOnLines(layout)) return changed;
  if (isOnLines(before) !== isOnLines(changed)) return changed;
  return { ...changed, lines: writeImport(changed, [layout]) };
}

/** Merges a value that may be missing; null where both sides changed it, each differently. */
export function mergeValue<T>(before: T, mine: T, other: T): T | null {
  if (mine === other) return mine;
  if (mine === before) return other;
  return other === before ? mine : null;
}

function isSame(one: ImportStatement, other: ImportStatement): boolean {
  if (one.whole !== other.whole || one.head !== other.head || one.tail !== other.tail) return false;
  if (one.names?.size !== other.names?.size) return false;
  return [...(one.names ?? [])].every(([name, said]) => other.names?.get(name) === said);
}

/** A longer line is laid out over more lines, unless those of the sides are as long. */
const MAX_LENGTH = 80;

/** Writes an import in the layout of the sides: on one line where one of them has it so and there is room. */
function writeImport(
  { whole, names, head, tail }: ImportStatement,
  sides: readonly ImportStatement[],
): readonly string[] {
  if (names === null) return [`${head}${whole}${tail}`];
  const before = whole === '' ? '' : `${whole}, `;
  const isTight = sides.some(({ lines }) => /\{\S/.test(lines[0] ?? ''));
  const list = [...names.values()].join(', ');
  const line = `${head}${before}{${isTight ? list : ` ${list} `}}${tail}`;
  const wide = sides.find(({ lines }) => lines.length > 1);
  const longest = Math.max(
    MAX_LENGTH,
    ...sides.map(({ lines }) => (lines.length > 1 ? 0 : (lines[0]?.length ?? 0))),
  );
  const isOneLine = sides.some(({ lines }) => lines.length === 1);
  if (isOneLine && line.length <= longest) return [line];
  const inner = wide?.lines[1] ?? '  ';
  const indent = /^[ \t]*/.exec(inner)?.[0] ?? '  ';
  const isClosed = wide === undefined || /,\s*$/.test(wide.lines.at(-2) ?? '');
  const said = [...names.values()];
  return [
    `${head}${before}{`,
    ...said.map(
      (name, index) => `${indent}${name}${index < said.length - 1 || isClosed ? ',' : ''}`,
    ),
    `}${tail}`,
  ];
}

/** So many are not in order by chance. */
const MIN_SORTED = 4;

type Order = Versions<readonly string[]>;

/**
 * Returns all items of both sides, in the order of the side that changed the order, or else in ours. If that order is
 * alphabetical (for few names: in all versions), the result is too. Otherwise an item that only the other side has
 * follows its predecessor there, or precedes its successor.
 */
export function orderOf({ base, ours, theirs }: Order): readonly string[] {
  const [first, second] = isMoved({ base, ours, theirs }) ? [theirs, ours] : [ours, theirs];
  const placed = [...first];
  const known = new Set(first);
  const others = new Set(second);
  for (const [index, name] of second.entries()) {
    if (known.has(name)) continue;
    placed.splice(placeFor(second, index, { placed, known, others }), 0, name);
    known.add(name);
  }
  const order =
    first.length >= MIN_SORTED
      ? orderOfNames([first])
      : orderOfNames([base, ours, theirs].filter(({ length }) => length > 0));
  return order === null ? placed : placed.sort((one, next) => (order(one, next) ? -1 : 1));
}

function placeFor(
  second: readonly string[],
  index: number,
  {
    placed,
    known,
    others,
  }: { placed: readonly string[]; known: ReadonlySet<string>; others: ReadonlySet<string> },
): number {
  const before = second.slice(0, index).findLast((name) => known.has(name));
  if (before === undefined) {
    const after = second.slice(index + 1).find((name) => known.has(name));
    return after === undefined ? placed.length : placed.indexOf(after);
  }
  let place = placed.indexOf(before) + 1;
  // What the first side put there comes first.
  while (place < placed.length && !others.has(placed[place] ?? '')) place++;
  return place;
}

/** Tells whether theirs changed the order of the items that all versions have, and ours did not. */
export function isMoved({ base, ours, theirs }: Order): boolean {
  const [own, its] = [new Set(ours), new Set(theirs)];
  const common = base.filter((name) => own.has(name) && its.has(name));
  const known = new Set(common);
  const isAsBefore = (side: readonly string[]) =>
    side.filter((name) => known.has(name)).every((name, index) => name === common[index]);
  return isAsBefore(ours) && !isAsBefore(theirs);
}

/** Tells whether a name comes from two modules. */
function hasNameTwice(imports: Imports): boolean {
  const names = [...imports.values()].flatMap(namesOf);
  return new Set(names).size < names.length;
}

/** Returns the names that an import binds. */
export function namesOf({ whole, names }: ImportStatement): readonly string[] {
  const wholes = whole.split(',').map((part) => part.trim().replace(/^\* ?as /, ''));
  return [...wholes.filter((name) => name !== ''), ...(names?.keys() ?? [])];
}

/** A blank line or an import. */
export type Item = { readonly key: string | null; readonly lines: readonly string[] };

/** The lines of one version in order, and the imports among them by module. */
export type Read = { readonly items: readonly Item[]; readonly imports: Imports };

/**
 * Returns the lines of merged imports, with the blank lines of the side whose order they have. Null if the order may
 * have a meaning: of modules that are only run, and below a comment.
 *
 * @param isBelowComment true where a comment stands right above, which may be about the first import
 */
export function putInOrder(
  merged: Imports,
  imports: Versions<Imports>,
  sides: { readonly ours: Read; readonly theirs: Read },
  isBelowComment: boolean,
): readonly string[] | null {
  const ids = {
    ours: identify(imports.ours, imports.base),
    theirs: identify(imports.theirs, imports.base),
  };
  const lists = {
    base: [...imports.base.keys()],
    ours: [...ids.ours.values()],
    theirs: [...ids.theirs.values()],
  };
  const isSame = (one: readonly string[]) => one.join('\n') === lists.base.join('\n');
  if (Object.values(imports).some(hasEffect) && !(isSame(lists.ours) && isSame(lists.theirs))) {
    return null;
  }
  const order = orderOf(lists);
  if (isBelowComment && Object.values(lists).some(([id]) => id !== order[0])) return null;
  const first = isMoved(lists) ? 'theirs' : 'ours';
  const linesOf = new Map(
    [...merged].map(([key, { lines }]) => [ids.ours.get(key) ?? ids.theirs.get(key) ?? key, lines]),
  );
  const result: string[] = [];
  const waiting = [...order];
  for (const { key, lines } of sides[first].items) {
    if (key === null) {
      result.push(...lines);
      continue;
    }
    const id = ids[first].get(key) ?? key;
    // What the other side put in goes with what is before it, unless that is the head.
    for (const next of waiting.splice(0, waiting.indexOf(id) + 1))
      result.push(...(linesOf.get(next) ?? []));
  }
  const rest = waiting.flatMap((id) => linesOf.get(id) ?? []);
  const end = result.findLastIndex((line) => line.trim() !== '') + 1;
  return [...result.slice(0, end), ...rest, ...result.slice(end)];
}

/** Tells whether one of some imports only runs its module. */
function hasEffect(imports: Imports): boolean {
  return [...imports.values()].some((one) => namesOf(one).length === 0);
}

/** Returns what each import of a side is known by: an import of the base that it took the place of, or itself. */
function identify(side: Imports, base: Imports): ReadonlyMap<string, string> {
  const gone = new Map([...base].filter(([key]) => !side.has(key)));
  return new Map(
    [...side].map(([key, one]) => {
      if (base.has(key)) return [key, key];
      const names = new Set(namesOf(one));
      const before = [...gone].find(
        ([, other]) =>
          other.module === one.module || namesOf(other).some((name) => names.has(name)),
      );
      if (before !== undefined) gone.delete(before[0]);
      return [key, before?.[0] ?? key];
    }),
  );
}
