import { type Order, orderOfNames } from '../sorted-names.ts';
import type { ListKind, NamedList } from './members.ts';

/** Imports are ordered by more than the names they bring, classes by what their members do. */
const UNSORTED: ReadonlySet<ListKind> = new Set(['imports', 'class']);

/** Finds the order by name in which all versions of a list are; null where there is none. */
export function orderOf(versions: readonly NamedList[]): Order | null {
  if (versions.some(({ kind }) => UNSORTED.has(kind))) return null;
  return orderOfNames(
    versions.map(({ members }) => members.map(({ names }) => names?.[0] ?? null)),
  );
}
