import {
  type EditedBlock,
  findEditedBlock,
  type Hunk,
  mapVersions,
  mergeTexts,
  trimmed,
  type Versions,
  type WholeSides,
  withEdit,
  withSharedEnds,
} from '@patchclaw/merge';
import type { z } from 'zod';
import { answeredFile, answerFault, disputesOf } from '../compose/answer.ts';
import type { Conflict } from '../conflict.ts';
import type { Rule as RuleSchema } from '../contract/looking-verbs.ts';
import { leavesMarkers } from '../installed/resolution-file.ts';
import { answerOfPicks, type HunkChoice, type PlainChoice } from './choice.ts';

/** A rule that would resolve a place in conflict. `both` and `reversed` take the lines of both sides. */
export type Rule = z.output<typeof RuleSchema>;

/** One numbered way to resolve a place: its rule, what a person reads, and what it makes there. */
export type PlaceOption = {
  readonly rule: Rule;
  readonly label: string;
  readonly pick: HunkChoice;
};

/** One numbered way to resolve a conflict as a whole. */
export type ResolutionOption = {
  readonly rule: Rule;
  readonly label: string;
  readonly choice: PlainChoice;
};

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;
type Layers = readonly [ours: string, theirs: string];

/** With more places than this only the sides are offered, and what they make is not read beforehand. */
const MAX_PLACES = 12;

/**
 * Returns, for each open hunk, the ways that would resolve it. A way whose file would not parse, or have a name
 * twice, is none; for one of several hunks it is enough that this holds with one side at all others.
 */
export function optionsAtPlaces(conflict: Conflict): readonly (readonly PlaceOption[])[] {
  const disputes = disputesOf(conflict);
  const all = candidates(conflict);
  if (disputes.length > MAX_PLACES) {
    return all.map((ways) => ways.filter(({ rule }) => rule === 'ours' || rule === 'theirs'));
  }
  // One side everywhere is tried at each place.
  const tried = new Map<string, boolean>();
  const isWhole = (picks: readonly HunkChoice[]) => {
    const text = textOf(conflict, picks);
    const known = tried.get(text) ?? holds(conflict, picks);
    tried.set(text, known);
    return known;
  };
  return all.map((ways, at) => {
    const others = (pick: HunkChoice, rest: HunkChoice) =>
      disputes.map((_, one) => (one === at ? pick : rest));
    return distinct(ways, ({ pick }) => {
      const rests: readonly HunkChoice[] = disputes.length === 1 ? ['ours'] : ['ours', 'theirs'];
      return rests.some((rest) => isWhole(others(pick, rest)))
        ? textOf(conflict, others(pick, 'ours'))
        : null;
    });
  });
}

/** Returns the ways that would resolve a conflict as a whole, the same rule at each of its places. */
export function optionsOf(conflict: Conflict): readonly ResolutionOption[] {
  if (conflict.values !== null) return valueOptions(conflict);
  const disputes = disputesOf(conflict);
  if (disputes.length === 0) return fileOptions(conflict);
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

function candidates(conflict: Conflict): readonly (readonly PlaceOption[])[] {
  const open = conflict.hunks.filter((hunk) => hunk.kind === 'conflict');
  const layers = disputesOf(conflict).map((one) => one.layers);
  const moved = movedEdits(conflict.hunks);
  return open.map((hunk, at) => {
    const sides = layers[at] ?? conflict.layers;
    const edits = moved.flatMap((edit) => movedOptions(conflict, edit, at));
    return [...candidatesFor(hunk, sides), ...edits];
  });
}

/** The edit of one side goes to where the other side moved the block. */
function movedOptions(conflict: Conflict, edit: MovedEdit, at: number): readonly PlaceOption[] {
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

/** Says whose a side is: `the core's`, `telegram's`, `yours`. */
function whose(layer: string): string {
  if (layer === 'your edits') return 'yours';
  return layer === 'undo' ? 'what was there before' : adjectiveOf(layer);
}

/** The same before a noun: `your lines`. */
function adjectiveOf(layer: string): string {
  if (layer === 'core') return "the core's";
  if (layer === 'your edits') return 'your';
  return layer === 'undo' ? 'the former' : `${layer}'s`;
}

type Side = 'ours' | 'theirs';

/** An edit at the new place of the block that the other side moved. */
type MovedEdit = {
  readonly editor: Side;
  /** The place from which it was moved, and the one that it was moved to: the same if both are in one. */
  readonly from: number;
  readonly to: number;
  /** The lines at the new place, with the edit. */
  readonly lines: readonly string[];
};

/** Finds edits of blocks that the other side moved, within one open hunk or to another one. */
export function movedEdits(hunks: readonly Hunk[]): readonly MovedEdit[] {
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  return open.flatMap((hunk, from) => {
    const sides = withSharedEnds(hunks, hunk);
    return (['theirs', 'ours'] as const).flatMap((editor) => {
      const mover = editor === 'ours' ? 'theirs' : 'ours';
      const within = editWithin(sides, editor, mover);
      if (within !== null) return [{ editor, from, to: from, lines: within }];
      const found = open.flatMap((other, to): readonly MovedEdit[] => {
        const isNew = other.base.length === 0 && other[editor].length === 0;
        const lines = isNew ? editIn(sides, editor, other[mover])?.lines : null;
        return lines == null ? [] : [{ editor, from, to, lines }];
      });
      return found.length === 1 ? found : [];
    });
  });
}

/** Returns the mover's lines with the edit, where the block is at another place among the others of the base. */
function editWithin(sides: WholeSides, editor: Side, mover: Side): readonly string[] | null {
  const { base, head, tail } = sides;
  const moved = sides[mover];
  const found = editIn(sides, editor, moved);
  if (found === null) return null;
  const { block, at, lines } = found;
  const isOnce = (line: string, all: readonly string[]) =>
    all.filter((one) => one === line).length === 1;
  const end = block.start + block.before.length;
  const isReordered = base.some((line, place) => {
    if (place >= block.start && place < end) return false;
    if (line.trim() === '' || !isOnce(line, base) || !isOnce(line, moved)) return false;
    return place < block.start !== moved.indexOf(line) < at;
  });
  return isReordered ? lines.slice(head, lines.length - tail) : null;
}

function editIn(sides: WholeSides, editor: Side, moved: readonly string[]) {
  const isWhole = (block: EditedBlock, at: number) => withEdit(moved, block, at) !== null;
  const found = findEditedBlock(sides.base, sides[editor], trimmed(moved), isWhole);
  const lines = found === null ? null : withEdit(moved, found.block, found.at);
  return found === null || lines === null ? null : { ...found, lines };
}

/** Returns the owner of a side with its verb, for a sentence: `telegram has`. */
function holderOf(layer: string): string {
  if (layer === 'core') return 'the core has';
  if (layer === 'your edits') return 'you have';
  return layer === 'undo' ? 'the version before has' : `${layer} has`;
}

/** Returns the verbs for the two sides: who has something keeps it, and takes what comes. */
function verbsFor([ours, theirs]: readonly [ours: string, theirs: string]) {
  const isKept = isOwn(theirs) && !isOwn(ours);
  return isKept ? { ours: 'take', theirs: 'keep' } : { ours: 'keep', theirs: 'take' };
}

/** By its name: customisations get one that begins so. */
function isOwn(layer: string): boolean {
  return layer === 'your edits' || /^custom(-|$)/.test(layer);
}

function candidatesFor(hunk: ConflictHunk, layers: Layers): readonly PlaceOption[] {
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
    ...insertionOptions(hunk, layers),
    ...wordOptions(hunk),
  ];
}

/** One side only put lines beside those that the other changed. */
function insertionOptions(
  { base, ours, theirs }: ConflictHunk,
  [mine, other]: Layers,
): readonly PlaceOption[] {
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

function wordOptions(hunk: Versions<readonly string[]>): readonly PlaceOption[] {
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

const MAX_LENGTH = 4000;

/** Merges lines word by word; null where words are in conflict too, or the lines are many. */
function mergeWords(sides: Versions<readonly string[]>): string | null {
  const texts = mapVersions(sides, (lines) => lines.join(''));
  if (Object.values(texts).some((text) => text.length === 0 || text.length > MAX_LENGTH)) {
    return null;
  }
  // A word as a line: whatever it holds is written so that no line ends within it.
  const asLines = mapVersions(texts, (text) =>
    (text.match(/\w+|\s+|[^\w\s]/g) ?? []).map((word) => `${JSON.stringify(word)}\n`).join(''),
  );
  const merged = mergeTexts(asLines);
  if (merged.kind === 'conflict') return null;
  const words = merged.text.split('\n').filter((line) => line !== '');
  return words.map((word) => String(JSON.parse(word))).join('');
}

function holds(conflict: Conflict, picks: readonly HunkChoice[]): boolean {
  const answer = answerOfPicks(conflict, picks);
  return !leavesMarkers(answer) && answerFault(conflict, answeredFile(conflict, answer)) === null;
}

function textOf(conflict: Conflict, picks: readonly HunkChoice[]): string {
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

function valueOptions({ layers, values }: Conflict): readonly ResolutionOption[] {
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

function fileOptions({ layers: [ours, theirs], sides }: Conflict): readonly ResolutionOption[] {
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
