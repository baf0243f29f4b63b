import { mapVersions } from '@patchclaw/merge';
import { disputesOf } from '../../compose/answer.ts';
import type { Conflict } from '../../conflict.ts';
import { declarationAround } from './declaration.ts';
import { surroundings } from './surroundings.ts';
import { type PlaceWay, waysAtPlaces } from './ways.ts';

/** A place in conflict, as people read it. Texts are UTF-8. */
export type Place = {
  /** The line of ours at which it begins. */
  readonly line: number;
  /** The declaration that it stands in; null for none. */
  readonly declaration: string | null;
  readonly layers: readonly [ours: string, theirs: string];
  /** Lines above and below that make it whole. */
  readonly above: string;
  readonly below: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly ways: readonly PlaceWay[];
};

/** Returns the places of a conflict, one for each open hunk, in order. */
export function placesIn(conflict: Conflict): readonly Place[] {
  const { hunks, path } = conflict;
  const disputes = disputesOf(conflict);
  const ways = waysAtPlaces(conflict);
  const before: string[] = [];
  const places: Place[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (hunk.kind === 'resolved') {
      for (const line of hunk.lines) before.push(line);
      continue;
    }
    const below = linesOf(hunks[index + 1]);
    const above = linesOf(hunks[index - 1]);
    const own = [...hunk.ours, ...hunk.theirs, ...hunk.base];
    const around = surroundings({ above, below }, hunk);
    places.push({
      line: before.length + 1,
      declaration: declarationAround(path, before, own.length === 0 ? below.slice(0, 1) : own),
      layers: disputes[places.length]?.layers ?? conflict.layers,
      above: text(around.above),
      below: text(around.below),
      ...mapVersions({ base: hunk.base, ours: hunk.ours, theirs: hunk.theirs }, text),
      ways: ways[places.length] ?? [],
    });
    for (const line of hunk.ours) before.push(line);
  }
  return places;
}

function linesOf(hunk: Conflict['hunks'][number] | undefined): readonly string[] {
  return hunk?.kind === 'resolved' ? hunk.lines : [];
}

// The merge works on bytes as latin1, so that none is lost; people read them as UTF-8.
function text(lines: readonly string[]): string {
  return Buffer.from(lines.join(''), 'latin1').toString('utf8');
}
