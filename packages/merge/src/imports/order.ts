import { orderOfNames } from '../lines/sorted-lines.ts';
import type { Versions } from '../tree.ts';

/** So many are not in order by chance. */
const MIN_SORTED = 4;

type Order = Versions<readonly string[]>;

/**
 * Returns all that the sides have, in the order of the one that changed it, or of ours: alphabetically where that one
 * is so (of few names, where all versions are), else what only the other side has follows what is before it there, or is before what follows.
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

/** Tells whether theirs put what is in all versions into another order, and ours did not. */
export function isMoved({ base, ours, theirs }: Order): boolean {
  const [own, its] = [new Set(ours), new Set(theirs)];
  const common = base.filter((name) => own.has(name) && its.has(name));
  const known = new Set(common);
  const isAsBefore = (side: readonly string[]) =>
    side.filter((name) => known.has(name)).every((name, index) => name === common[index]);
  return isAsBefore(ours) && !isAsBefore(theirs);
}
