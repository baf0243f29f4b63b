import type { Versions } from '../tree.ts';
import { mayClash } from './clash.ts';
import { disputeFlaw } from './doubts.ts';
import { linesOf } from './region-lines.ts';
import type { Region } from './regions.ts';
import type { Language } from './syntax/language.ts';
import { settleConflicts } from './syntax/levels.ts';
import { readSides } from './syntax/side.ts';
import { flawIn } from './syntax/sound.ts';

/** Longer texts are merged by lines alone: no input is slow. */
const MAX_LENGTH = 1 << 18;
/** Texts with more conflicts than this have little in common. */
const MAX_CONFLICTS = 1000;

/**
 * Settles by layout and syntax what a merge by lines left open, and reopens what it should have:
 * a clean result that says a name twice, or that no longer parses although all versions do.
 *
 * Regions that it has no answer for come back as they are.
 */
export function settleRegions(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  language: Language,
): readonly Region[] {
  if (Object.values(lines).some((side) => lengthOf(side) > MAX_LENGTH)) return regions;
  const conflicts = regions.filter(({ kind }) => kind === 'conflict').length;
  if (conflicts === 0 && !mayClash(regions, lines)) return regions;
  if (conflicts > MAX_CONFLICTS) return regions;
  const readParents = once(() => readSides(lines, language));
  const settled = conflicts === 0 ? regions : settleConflicts(regions, readParents(), language);
  if (settled.some(({ kind }) => kind === 'conflict')) return settled;
  const merged = settled.flatMap((region) => linesOf(region, lines));
  const flaw = flawIn(merged, language, readParents);
  if (flaw === null) return settled;
  return conflicts > 0 ? regions : disputeFlaw(flaw, regions, lines);
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((length, line) => length + line.length, 0);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
