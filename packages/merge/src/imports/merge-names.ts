import type { Versions } from '../tree.ts';
import { writeImport } from './layout.ts';
import { isMoved, orderOf } from './order.ts';
import type { ImportStatement } from './statements.ts';

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
