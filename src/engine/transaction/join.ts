import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Journal, JournalStep } from './journal.ts';
import { dropTransaction } from './records.ts';
import { readJournal, syncPath, transactionIds } from './recover.js';
import { journalText, writeSynced } from './stage.ts';

type FileStep = Extract<JournalStep, { kind: 'file' }>;
type Side = 'before' | 'after';

/**
 * Makes one record of two transactions that followed each other, so that one undo takes both back. The
 * new record comes last: a crash before it leaves the two, one behind it leaves them below it.
 *
 * @returns the new record's id; null where they did not follow each other, or packages were swapped
 */
export function joinTransactions(root: string, olderId: string, newerId: string): string | null {
  const [older, newer] = [recordOf(root, olderId), recordOf(root, newerId)];
  if (older === null || newer === null || older.stateAfter !== newer.stateBefore) return null;
  const steps = [filesOf(older), filesOf(newer)];
  const [first, second] = steps;
  if (!first || !second) return null;
  const id = idAfter(root, newer);
  const place = join(root, '.claw/backup', id);
  for (const side of ['before', 'after']) fs.mkdirSync(join(place, side), { recursive: true });
  const paths = [...new Set([...first.keys(), ...second.keys()])].filter(
    (path) => !isPassing(first.get(path), second.get(path)),
  );
  const joined = paths.map((path, at): FileStep => {
    const old = first.get(path);
    const now = second.get(path);
    const before = keep(root, place, at, 'before', old ?? now);
    const after = keep(root, place, at, 'after', now ?? old);
    return { kind: 'file', path, before, after };
  });
  const journal: Journal = {
    ...newer,
    id,
    summary: older.summary,
    stateBefore: older.stateBefore,
    steps: joined,
    moves: { ...older.moves, ...newer.moves },
    foldersMade: [...new Set([...older.foldersMade, ...newer.foldersMade])],
    folderModes: { ...newer.folderModes, ...older.folderModes },
  };
  const record = join(place, 'record.json');
  writeSynced(`${record}.new`, journalText(journal));
  fs.renameSync(`${record}.new`, record);
  syncPath(place);
  dropTransaction(root, newerId);
  dropTransaction(root, olderId);
  return id;
}

type Kept = { readonly step: FileStep; readonly folder: string; readonly at: number };

function recordOf(root: string, id: string): Journal | null {
  return readJournal(join(root, '.claw/backup', id, 'record.json'));
}

/** The files of a record by path; null where it is of more than files. */
function filesOf(journal: Journal): ReadonlyMap<string, Kept> | null {
  const files = new Map<string, Kept>();
  for (const [at, step] of journal.steps.entries()) {
    if (step.kind !== 'file') return null;
    files.set(step.path, { step, folder: journal.id, at });
  }
  return files;
}

/** Whether a file came and went again between the two. */
function isPassing(old: Kept | undefined, now: Kept | undefined): boolean {
  return (
    old !== undefined && now !== undefined && old.step.before === null && now.step.after === null
  );
}

/** Takes the bytes of one side along, by a link: records are never changed. */
function keep(
  root: string,
  place: string,
  at: number,
  side: Side,
  kept: Kept | undefined,
): FileStep[Side] {
  const print = kept?.step[side] ?? null;
  if (kept === undefined || print === null) return null;
  const from = join(root, '.claw/backup', kept.folder, side, String(kept.at));
  fs.linkSync(from, join(place, side, String(at)));
  return print;
}

/** Ids count up, so that the newest record is the last by name. */
function idAfter(root: string, { id, verb }: Journal): string {
  const last = transactionIds(join(root, '.claw/backup')).at(-1) ?? id;
  return `${String(Number(last.slice(0, 6)) + 1).padStart(6, '0')}-${verb}`;
}
