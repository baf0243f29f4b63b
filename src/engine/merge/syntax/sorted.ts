import type { ListKind, NamedList } from './members.ts';

/** Tells whether a name comes before another one. */
export type Order = (one: string, other: string) => boolean;

/** Fewer members are in order by chance. */
const MIN_MEMBERS = 3;
/** Imports are ordered by more than the names they bring, classes by what their members do. */
const UNSORTED: ReadonlySet<ListKind> = new Set(['imports', 'class']);
const ORDERS: readonly Order[] = [
  (one, other) => one < other,
  (one, other) => one.toLowerCase() < other.toLowerCase(),
];

/** Finds the order by name in which all versions of a list are; null where there is none. */
export function orderOf(versions: readonly NamedList[]): Order | null {
  if (versions.some(({ kind, members }) => UNSORTED.has(kind) || members.length < MIN_MEMBERS))
    return null;
  const names = versions.map(({ members }) => members.map((member) => member.names?.[0] ?? null));
  const isIn = (order: Order) =>
    names.every((some) =>
      some.every((name, index) => {
        const before = index === 0 ? '' : some[index - 1];
        return name !== null && before != null && (index === 0 || order(before, name));
      }),
    );
  return ORDERS.find(isIn) ?? null;
}
