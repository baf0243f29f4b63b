import type { Hunk, Versions } from '@patchclaw/merge';
import type { z } from 'zod';
import { answeredFile, answerFault, disputesOf } from '../../compose/answer.ts';
import type { Conflict } from '../../conflict.ts';
import type { Rule as RuleSchema } from '../../contract/looking-verbs.ts';
import { leavesMarkers } from '../../installed/resolution-file.ts';
import type { PlainChoice } from '../choice.ts';
import { answerOfPicks, type Pick } from '../hunk-choices.ts';
import { mergeWords } from './merge-words.ts';
import { type MovedEdit, movedEdits } from './moved-ways.ts';
import { adjectiveOf, holderOf, verbsFor, whose } from './whose.ts';

/** A rule that would resolve a place in conflict. `both` and `reversed` take the lines of both sides. */
export type Rule = z.output<typeof RuleSchema>;

/** One numbered way to resolve a place: its rule, what a person reads, and what it makes there. */
export type PlaceWay = { readonly rule: Rule; readonly label: string; readonly pick: Pick };

/** One numbered way to resolve a conflict as a whole. */
export type Way = { readonly rule: Rule; readonly label: string; readonly choice: PlainChoice };

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;
type Layers = readonly [ours: string, theirs: string];

/** With more places than this only the sides are offered, and what they make is not read beforehand. */
const MAX_PLACES = 12;

/**
 * Returns, for each open hunk, the ways that would resolve it. A way whose file would not parse, or have a name
 * twice, is none; for one of several hunks it is enough that this holds with one side at all others.
 */
export function waysAtPlaces(conflict: Conflict): readonly (readonly PlaceWay[])[] {
  const disputes = disputesOf(conflict);
  const all = candidates(conflict);
  if (disputes.length > MAX_PLACES) {
    return all.map((ways) => ways.filter(({ rule }) => rule === 'ours' || rule === 'theirs'));
  }
  // One side everywhere is tried at each place.
  const tried = new Map<string, boolean>();
  const isWhole = (picks: readonly Pick[]) => {
    const text = textOf(conflict, picks);
    const known = tried.get(text) ?? holds(conflict, picks);
    tried.set(text, known);
    return known;
  };
  return all.map((ways, at) => {
    const others = (pick: Pick, rest: Pick) => disputes.map((_, one) => (one === at ? pick : rest));
    return distinct(ways, ({ pick }) => {
      const rests: readonly Pick[] = disputes.length === 1 ? ['ours'] : ['ours', 'theirs'];
      return rests.some((rest) => isWhole(others(pick, rest)))
        ? textOf(conflict, others(pick, 'ours'))
        : null;
    });
  });
}

/** Returns the ways that would resolve a conflict as a whole, the same rule at each of its places. */
export function waysOf(conflict: Conflict): readonly Way[] {
  if (conflict.values !== null) return valueWays(conflict);
  const disputes = disputesOf(conflict);
  if (disputes.length === 0) return fileWays(conflict);
  const places = candidates({ ...conflict, authors: undefined, others: undefined });
  const [first = []] = places;
  const ways = first.flatMap(({ rule, label }) => {
    const picks = places.flatMap((some) => some.find((one) => one.rule === rule)?.pick ?? []);
    return picks.length === places.length ? [{ rule, label, picks }] : [];
  });
  return distinct(ways, ({ picks }) =>
    holds(conflict, picks) ? textOf(conflict, picks) : null,
  ).map(({ rule, label, picks }) => ({ rule, label, choice: { kind: 'picks', picks } }));
}

function candidates(conflict: Conflict): readonly (readonly PlaceWay[])[] {
  const open = conflict.hunks.filter((hunk) => hunk.kind === 'conflict');
  const layers = disputesOf(conflict).map((one) => one.layers);
  const moved = movedEdits(conflict.hunks);
  return open.map((hunk, at) => {
    const sides = layers[at] ?? conflict.layers;
    const edits = moved.flatMap((edit) => movedWays(conflict, edit, at));
    return [...candidatesFor(hunk, sides), ...edits];
  });
}

/** The edit of one side goes to where the other side moved the block. */
function movedWays(conflict: Conflict, edit: MovedEdit, at: number): readonly PlaceWay[] {
  const { editor, from, to } = edit;
  if (at !== from && at !== to) return [];
  const text = readable(edit.lines.join(''));
  if (text === null) return [];
  const layer = conflict.layers[editor === 'ours' ? 0 : 1];
  const place = from === to ? '' : `, line ${lineOf(conflict, to)}`;
  const label = `${adjectiveOf(layer)} edit at the block's new place${place} (moved)`;
  const mover = editor === 'ours' ? 'theirs' : 'ours';
  return [{ rule: 'moved', label, pick: at === to ? { text } : mover }];
}

/** Returns the line of ours at which an open hunk begins. */
function lineOf({ hunks }: Conflict, open: number): number {
  const index = hunks.indexOf(hunks.filter(({ kind }) => kind === 'conflict')[open] as Hunk);
  const above = hunks.slice(0, index);
  return above.reduce(
    (line, hunk) => line + (hunk.kind === 'conflict' ? hunk.ours : hunk.lines).length,
    1,
  );
}

function candidatesFor(hunk: ConflictHunk, layers: Layers): readonly PlaceWay[] {
  const [ours, theirs] = layers;
  const verbs = verbsFor(layers);
  const isUnion = hunk.base.every((line) => line.trim() === '');
  const named = isUnion ? ' (union)' : '';
  const isBoth = hunk.ours.length > 0 && hunk.theirs.length > 0;
  return [
    { rule: 'ours', label: `${verbs.ours} ${whose(ours)}`, pick: 'ours' },
    { rule: 'theirs', label: `${verbs.theirs} ${whose(theirs)}`, pick: 'theirs' },
    ...(isBoth
      ? ([
          { rule: 'both', label: `both: ${whose(ours)} first${named}`, pick: 'ours-theirs' },
          { rule: 'reversed', label: `both: ${whose(theirs)} first${named}`, pick: 'theirs-ours' },
        ] as const)
      : []),
    ...insertionWays(hunk, layers),
    ...wordWays(hunk),
  ];
}

/** One side only put lines beside those that the other changed. */
function insertionWays(
  { base, ours, theirs }: ConflictHunk,
  [mine, other]: Layers,
): readonly PlaceWay[] {
  const around = (side: readonly string[], changed: readonly string[]) => {
    const at = base.length === 0 ? [] : placesOf(base, side);
    const [start] = at;
    if (start === undefined || at.length > 1 || side.length === base.length) return null;
    return [...side.slice(0, start), ...changed, ...side.slice(start + base.length)];
  };
  const found = [
    { lines: around(ours, theirs), changer: other, inserter: mine },
    { lines: around(theirs, ours), changer: mine, inserter: other },
  ];
  const [one, ...more] = found.filter(({ lines }) => lines !== null);
  const text = readable(one?.lines?.join('') ?? '');
  if (one === undefined || more.length > 0 || text === null) return [];
  const { changer, inserter } = one;
  const label = `${adjectiveOf(changer)} change, with ${adjectiveOf(inserter)} new lines beside it (insertion)`;
  return [{ rule: 'insertion', label, pick: { text } }];
}

function placesOf(lines: readonly string[], all: readonly string[]): readonly number[] {
  return all.flatMap((_, at) => (lines.every((line, by) => all[at + by] === line) ? [at] : []));
}

function wordWays(hunk: Versions<readonly string[]>): readonly PlaceWay[] {
  const merged = mergeWords(hunk);
  const text = merged === null ? null : readable(merged);
  return text === null
    ? []
    : [{ rule: 'words', label: 'both changes, word by word (words)', pick: { text } }];
}

/** Returns the text as people read it; null for bytes that are none. */
function readable(bytes: string): string | null {
  const buffer = Buffer.from(bytes, 'latin1');
  const text = buffer.toString('utf8');
  return Buffer.from(text).equals(buffer) ? text : null;
}

function holds(conflict: Conflict, picks: readonly Pick[]): boolean {
  const answer = answerOfPicks(conflict, picks);
  return !leavesMarkers(answer) && answerFault(conflict, answeredFile(conflict, answer)) === null;
}

function textOf(conflict: Conflict, picks: readonly Pick[]): string {
  return answeredFile(conflict, answerOfPicks(conflict, picks))?.bytes.toString('latin1') ?? '';
}

/** Leaves out the ways without a result, and those whose result an earlier one has. */
function distinct<W extends { readonly rule: Rule }>(
  ways: readonly W[],
  resultOf: (way: W) => string | null,
): readonly W[] {
  const known = new Set<string>();
  return ways.filter((way) => {
    const result = resultOf(way);
    // At the place that a block was moved from, its edit leaves what the mover left.
    if (result === null || (known.has(result) && way.rule !== 'moved')) return false;
    known.add(result);
    return true;
  });
}

function valueWays({ layers, values }: Conflict): readonly Way[] {
  const verbs = verbsFor(layers);
  const shown = (side: 'ours' | 'theirs') => {
    const value = values?.[side];
    if (value === null || value === undefined) return 'none';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > 120 ? `${text.slice(0, 119)}…` : text;
  };
  return [
    {
      rule: 'ours',
      label: `${verbs.ours} ${whose(layers[0])}: ${shown('ours')}`,
      choice: { kind: 'ours' },
    },
    {
      rule: 'theirs',
      label: `${verbs.theirs} ${whose(layers[1])}: ${shown('theirs')}`,
      choice: { kind: 'theirs' },
    },
  ];
}

function fileWays({ layers: [ours, theirs], sides }: Conflict): readonly Way[] {
  const verbs = verbsFor([ours, theirs]);
  const kept =
    sides.ours === null
      ? `leave the file deleted, as ${holderOf(ours)} it`
      : `${verbs.ours} ${whose(ours)}`;
  const taken =
    sides.theirs === null
      ? `delete the file, as ${holderOf(theirs)} it`
      : `${verbs.theirs} ${whose(theirs)}`;
  return [
    { rule: 'ours', label: kept, choice: { kind: 'ours' } },
    { rule: 'theirs', label: taken, choice: { kind: 'theirs' } },
  ];
}
