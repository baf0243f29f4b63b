import type { Unit } from './units.ts';

/** A unit and what it says. */
export type KeyedUnit = Unit & { readonly key: string };

/** Insertions of one side before, between and after the members of the base; one run for each gap. */
export type Gaps = readonly (readonly KeyedUnit[])[];

/** Compares a side's units with the base's; null where one of the base is changed, moved or gone. */
export function gapsOf(base: readonly KeyedUnit[], side: readonly KeyedUnit[]): Gaps | null {
  const gaps: KeyedUnit[][] = [[]];
  for (const unit of side) {
    const isNext = unit.key === base[gaps.length - 1]?.key;
    if (isNext) gaps.push([]);
    else gaps.at(-1)?.push(unit);
  }
  return gaps.length === base.length + 1 ? gaps : null;
}
