import { closeSync, copyFileSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { isDamage, REPAIR } from '../error.ts';
import { BackupError } from './archive-format.ts';

const MAGIC = 'SQLite format 3\0';
const WAL_HEAD_BYTES = 32;
const COPY_ATTEMPTS = 10;
/** All pages in one step: then it is one read of one moment, which writers neither wait for nor restart. */
const ALL_PAGES = 0x7fffffff;

/** Tells whether a file is a database of SQLite. */
export function isDatabase(path: string): boolean {
  return headOf(path, MAGIC.length)?.toString('latin1') === MAGIC;
}

/**
 * Copies a database as it is at one moment, also while another process writes to it, and has SQLite look through the copy.
 * The copy is one file. This blocks the thread for as long as it takes, so it belongs in a process of its own.
 *
 * @returns the rows of each table
 * @throws BackupError DATABASE_DAMAGED
 */
export async function copyDatabase(
  from: string,
  to: string,
): Promise<Readonly<Record<string, number>>> {
  try {
    if (isLocked(from)) copyLocked(from, to);
    else await copyByBackup(from, to);
    return finishCopy(from, to);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw damaged(from, error instanceof Error ? error.message : String(error));
  }
}

async function copyByBackup(from: string, to: string): Promise<void> {
  const database = new Database(from, { readonly: true, fileMustExist: true, timeout: 2_000 });
  try {
    await database.backup(to, { progress: () => ALL_PAGES });
  } finally {
    database.close();
  }
}

/** Tells whether a process holds a database for itself alone: then it keeps no index of the log that others could join. */
function isLocked(path: string): boolean {
  return existsSync(`${path}-wal`) && !existsSync(`${path}-shm`);
}

/**
 * Copies the files of a database in WAL mode that its process has locked (`locking_mode = EXCLUSIVE`), as the link to
 * WhatsApp. The log only grows until it is begun anew with other salts in its head. So if the head is the same before and
 * after, every page that changed in the file meanwhile is in the log as well, and both together are one moment: SQLite
 * leaves out a commit that is not complete in the copy.
 */
function copyLocked(from: string, to: string): void {
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt += 1) {
    const before = headOf(`${from}-wal`, WAL_HEAD_BYTES);
    copyFileSync(from, to);
    if (before === null) rmSync(`${to}-wal`, { force: true });
    else copyFileSync(`${from}-wal`, `${to}-wal`);
    const after = headOf(`${from}-wal`, WAL_HEAD_BYTES);
    const isSame = before === null ? after === null : after !== null && before.equals(after);
    if (isSame) return;
  }
  throw new Error(`${from} is written to so often that it could not be copied. Try again later.`);
}

function headOf(path: string, bytes: number): Buffer | null {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes) return null;
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(bytes);
    return readSync(file, head, 0, bytes, 0) === bytes ? head : null;
  } finally {
    closeSync(file);
  }
}

function finishCopy(from: string, to: string): Readonly<Record<string, number>> {
  const copy = new Database(to, { fileMustExist: true });
  try {
    // Folds the log in, so that the copy is one file. Whoever opens it next says which mode it wants.
    copy.pragma('journal_mode = DELETE');
    const problem = copy.pragma('quick_check(1)', { simple: true });
    if (problem !== 'ok') throw damaged(from, String(problem));
    return rowsOf(copy);
  } finally {
    copy.close();
  }
}

function damaged(path: string, reason: string): BackupError {
  return new BackupError('DATABASE_DAMAGED', `${path} is damaged (${reason}). ${REPAIR}`);
}

/** Counts the rows of each table; those that SQLite keeps for a search index are no tables of ours. */
export function rowsOf(database: Database.Database): Readonly<Record<string, number>> {
  const tables = z
    .array(z.object({ name: z.string(), type: z.string() }))
    .parse(database.pragma('table_list'))
    .filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'));
  return Object.fromEntries(
    tables
      .map(({ name }) => {
        const quoted = `"${name.replaceAll('"', '""')}"`;
        const rows = database.prepare(`SELECT count(*) FROM ${quoted}`).pluck().get();
        return [name, z.int().parse(rows)] as const;
      })
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Checks a database thoroughly, with its indexes. @throws BackupError DATABASE_DAMAGED */
export function checkDatabase(path: string): void {
  let problem: unknown;
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true });
    try {
      problem = database.pragma('integrity_check(1)', { simple: true });
    } finally {
      database.close();
    }
  } catch (error) {
    problem = error instanceof Error ? error.message : error;
  }
  if (problem !== 'ok') {
    throw new BackupError(
      'DATABASE_DAMAGED',
      `${path} in the backup is damaged (${String(problem)}). Use another backup.`,
    );
  }
}
