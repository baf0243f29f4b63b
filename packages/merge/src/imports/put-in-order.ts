import type { Versions } from '../tree.ts';
import { type Imports, namesOf } from './merge-names.ts';
import { isMoved, orderOf } from './order.ts';

/** A line that is blank, or an import. */
export type Item = { readonly key: string | null; readonly lines: readonly string[] };

/** The lines of one version in order, and the imports among them by module. */
export type Read = { readonly items: readonly Item[]; readonly imports: Imports };

/**
 * Returns the lines of merged imports, with the blank lines between of the side whose order they have. Null where the order
 * may have a meaning: of what is only run, and below a comment.
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
