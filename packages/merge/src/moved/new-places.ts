import { mapVersions } from '../lines/lines.ts';
import type { Hunk } from '../lines/regions.ts';
import type { Versions } from '../tree.ts';
import { findEditedBlock, placesOf, trimmed } from './edited-block.ts';
import { withSharedEnds } from './shared-ends.ts';

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;
type Lines = readonly string[];
type Side = 'ours' | 'theirs';

/** Larger files are not looked through, nor those with more conflicts. */
const MAX_LINES = 20_000;
const MAX_CONFLICTS = 50;

/**
 * Opens the places to which one side moved a block that the other side edited where it was. Both places are one
 * question: else taking the edited block would leave it twice.
 *
 * @param versions the lines of the three files
 */
export function openNewPlaces(hunks: readonly Hunk[], versions: Versions<Lines>): readonly Hunk[] {
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  const isLong = Object.values(versions).some(({ length }) => length > MAX_LINES);
  if (isLong || open.length > MAX_CONFLICTS) return hunks;
  const whole = mapVersions(versions, trimmed);
  return open.reduce<readonly Hunk[]>(
    (all, hunk) => openFor(all, hunk, 'ours', whole) ?? openFor(all, hunk, 'theirs', whole) ?? all,
    hunks,
  );
}

/** Returns the hunks with the place open to which one side moved a block of this one; null for none. */
function openFor(
  hunks: readonly Hunk[],
  hunk: ConflictHunk,
  mover: Side,
  versions: Versions<Lines>,
): readonly Hunk[] | null {
  const editor = mover === 'ours' ? 'theirs' : 'ours';
  const sides = withSharedEnds(hunks, hunk);
  const placeOf = (before: Lines) =>
    hunks.findIndex(
      (one) => one.kind === 'resolved' && placesOf(before, trimmed(one.lines)).length === 1,
    );
  const found = findEditedBlock(sides.base, sides[editor], versions[mover], ({ before }) => {
    // What the hunk still has has its new place there.
    const isThere = placesOf(before, trimmed(sides[mover])).length > 0;
    const isOnce = placesOf(before, versions.base).length === 1;
    return (
      !isThere && isOnce && placesOf(before, versions[editor]).length === 0 && placeOf(before) >= 0
    );
  });
  if (found === null) return null;
  const { before, start } = found.block;
  const index = placeOf(before);
  const there = hunks[index];
  if (there?.kind !== 'resolved') return null;
  const [at = 0] = placesOf(before, trimmed(there.lines));
  const same = (by: number) => hunk.base[start + by]?.trim() === there.lines[at + by]?.trim();
  // Something that is resolved stays between two open places.
  let from = 0;
  while (start + from > 0 && at + from > 1 && same(from - 1)) from--;
  let to = before.length;
  while (start + to < hunk.base.length && at + to < there.lines.length - 1 && same(to)) to++;
  if (at + from === 0 && index > 0) return null;
  if (at + to === there.lines.length && index < hunks.length - 1) return null;
  const block = there.lines.slice(at + from, at + to);
  const opened: ConflictHunk = { kind: 'conflict', base: [], ours: [], theirs: [], [mover]: block };
  const rest = [there.lines.slice(0, at + from), there.lines.slice(at + to)];
  const [above, below] = rest.map((lines): readonly Hunk[] =>
    lines.length === 0 ? [] : [{ kind: 'resolved', lines }],
  );
  return [
    ...hunks.slice(0, index),
    ...(above ?? []),
    opened,
    ...(below ?? []),
    ...hunks.slice(index + 1),
  ];
}
