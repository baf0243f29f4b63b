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

/** Finds the order in which the names of all versions of a list are; null where there is none. */
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
