import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Journal, JournalStep } from './journal.ts';
import { dropTransaction, listTransactions, type TransactionSummary } from './records.ts';
import { journalText, readJournal, removeBackup, syncPath, takenIds } from './recover.js';
import { writeSynced } from './stage.ts';

type FileStep = Extract<JournalStep, { kind: 'file' }>;
type Side = 'before' | 'after';

/**
 * Joins the two newest transactions into one record, so that a single undo takes both back. The record names the two
 * as replaced. From the rename of the record on they no longer count, whether or not they could be removed.
 *
 * @returns the new record's id; null where there is another one between them, or packages were swapped
 * @throws plain errors of the disk; the two are then unchanged
 */
export function joinTransactions(
  root: string,
  older: TransactionSummary,
  newer: TransactionSummary,
): string | null {
  const [newest, next] = listTransactions(root);
  if (!isSame(newest, newer) || !isSame(next, older)) return null;
  const journals = [recordOf(root, older.id), recordOf(root, newer.id)] as const;
  const [first, second] = journals;
  if (first === null || second === null || first.stateAfter !== second.stateBefore) return null;
  const files = [filesOf(first), filesOf(second)] as const;
  if (files[0] === null || files[1] === null) return null;
  const id = idAfter(root, second);
  const place = join(root, '.claw/backup', id);
  try {
    const steps = linkFiles(root, place, files[0], files[1]);
    writeRecord(root, place, joined(id, first, second, steps));
  } catch (error) {
    tidy(() => removeBackup(root, id));
    throw error;
  }
  for (const one of [second.id, first.id]) tidy(() => dropTransaction(root, one));
  return id;
}

/**
 * Tells whether a record is the one that is meant. Numbers are reused after an undo, so the time counts as
 * well.
 */
function isSame(found: TransactionSummary | undefined, meant: TransactionSummary): boolean {
  return found?.id === meant.id && found.committedAt === meant.committedAt;
}

function linkFiles(root: string, place: string, first: Files, second: Files): FileStep[] {
  fs.mkdirSync(place);
  for (const side of ['before', 'after']) fs.mkdirSync(join(place, side));
  const paths = [...new Set([...first.keys(), ...second.keys()])].filter(
    (path) => !isPassing(first.get(path), second.get(path)),
  );
  return paths.map((path, at): FileStep => {
    const old = first.get(path);
    const now = second.get(path);
    const before = keep(root, place, at, 'before', old ?? now);
    const after = keep(root, place, at, 'after', now ?? old);
    return { kind: 'file', path, before, after };
  });
}

function joined(id: string, older: Journal, newer: Journal, steps: readonly FileStep[]): Journal {
  return {
    ...newer,
    id,
    summary: older.summary,
    stateBefore: older.stateBefore,
    steps,
    moves: { ...older.moves, ...newer.moves },
    foldersMade: [...new Set([...older.foldersMade, ...newer.foldersMade])],
    folderModes: { ...newer.folderModes, ...older.folderModes },
    replaces: [older.id, newer.id],
  };
}

/** Writes the record. Its links must be on disk before it, and it before the two are removed. */
function writeRecord(root: string, place: string, journal: Journal): void {
  const record = join(place, 'record.json');
  for (const side of ['before', 'after']) syncPath(join(place, side));
  writeSynced(`${record}.new`, journalText(root, journal));
  fs.renameSync(`${record}.new`, record);
  syncPath(place);
  syncPath(dirname(place));
}

/** Tries to remove replaced records. They count no more, and the next command tries again. */
function tidy(work: () => void): void {
  try {
    work();
  } catch {
    // Only litter is left.
  }
}

type Files = ReadonlyMap<string, JoinedStep>;
type JoinedStep = { readonly step: FileStep; readonly folder: string; readonly at: number };

function recordOf(root: string, id: string): Journal | null {
  return readJournal(root, `.claw/backup/${id}/record.json`);
}

/** Returns the files of a record by path; null where it is of more than files. */
function filesOf(journal: Journal): Files | null {
  const files = new Map<string, JoinedStep>();
  for (const [at, step] of journal.steps.entries()) {
    if (step.kind !== 'file') return null;
    files.set(step.path, { step, folder: journal.id, at });
  }
  return files;
}

/** Tells whether a file came and went again between the two. */
function isPassing(old: JoinedStep | undefined, now: JoinedStep | undefined): boolean {
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
  kept: JoinedStep | undefined,
): FileStep[Side] {
  const print = kept?.step[side] ?? null;
  if (kept === undefined || print === null) return null;
  const from = join(root, '.claw/backup', kept.folder, side, String(kept.at));
  fs.linkSync(from, join(place, side, String(at)));
  return print;
}

/** Makes an id for the joined record. Ids count up, so that the newest record is the last by name. */
function idAfter(root: string, { id, verb }: Journal): string {
  const last = takenIds(root, '.claw/backup').at(-1) ?? id;
  return `${String(Number(last.slice(0, 6)) + 1).padStart(6, '0')}-${verb}`;
}
