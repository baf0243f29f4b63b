import { mapVersions, type Versions } from '@patchclaw/merge';
import { disputesOf } from '../compose/answer.ts';
import type { Conflict } from '../conflict.ts';
import { declarationAround } from './enclosing-declaration.ts';
import { optionsAtPlaces, type PlaceOption } from './resolution-options.ts';

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
  readonly ways: readonly PlaceOption[];
};

/** Returns the places of a conflict, one for each open hunk, in order. */
export function placesIn(conflict: Conflict): readonly Place[] {
  const { hunks, path } = conflict;
  const disputes = disputesOf(conflict);
  const ways = optionsAtPlaces(conflict);
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

/** Lines beside a place that are shown, unless it needs more of them to be whole. */
const SHOWN = 2;
const MOST = 8;

type Sides = Versions<readonly string[]>;
type Around = { readonly above: readonly string[]; readonly below: readonly string[] };

/**
 * Returns the lines around a place that are shown with it: no further than the declaration it stands in, but
 * up to the lines where brackets begin that a side closes, and end that it opens.
 */
function surroundings({ above, below }: Around, sides: Sides): Around {
  const needs = [sides.base, sides.ours, sides.theirs].map((lines) => bracketsIn(lines.join('')));
  const closed = Math.max(...needs.map(({ least }) => -least));
  const opened = Math.max(...needs.map(({ net, least }) => net - least));
  const indent = indentOf([...sides.ours, ...sides.theirs, ...sides.base]);
  return {
    above: within(above.toReversed(), closed, { indent, sign: -1 }).toReversed(),
    below: within(below, opened, { indent, sign: 1 }),
  };
}

function within(
  lines: readonly string[],
  brackets: number,
  { indent, sign }: { readonly indent: number; readonly sign: 1 | -1 },
): readonly string[] {
  const taken: string[] = [];
  let missing = brackets;
  for (const line of lines.slice(0, MOST)) {
    const isBlank = line.trim() === '';
    if (missing <= 0 && (taken.length >= SHOWN || isBlank)) break;
    taken.push(line);
    missing += sign * bracketsIn(line).net;
    const isEdge = !isBlank && line.length - line.trimStart().length < indent;
    if (missing <= 0 && isEdge) break;
  }
  while (taken.at(-1)?.trim() === '') taken.pop();
  return taken;
}

function indentOf(lines: readonly string[]): number {
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  return indents.length === 0 ? 0 : Math.min(...indents);
}

/** Counts brackets: opened less closed, and the lowest that this came to. */
function bracketsIn(text: string): { readonly net: number; readonly least: number } {
  let [net, least] = [0, 0];
  for (const character of text) {
    if ('{(['.includes(character)) net++;
    else if ('})]'.includes(character)) least = Math.min(least, --net);
  }
  return { net, least };
}
