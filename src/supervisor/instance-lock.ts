import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** The beginning of a refusal of commands that need the assistant's data for themselves. */
export const STOP_FIRST =
  'The assistant is running. Stop it first: `/exit` in its terminal, or `npx claw service stop` if it is a service.';

export type InstanceLock =
  | { readonly kind: 'held'; readonly release: () => void }
  /** Another assistant runs on the folder, or the folder cannot be used. */
  | { readonly kind: 'refused'; readonly isRunning: boolean; readonly message: string };

const LOOK_MS = 250;

/**
 * Makes this the only assistant on a data folder: two would answer every message twice.
 *
 * The lock is an open SQLite transaction, which the kernel drops when the process dies, however it
 * dies. Nothing else in this process may open that file, and the returned value must be kept: with
 * it the garbage collector would take the lock.
 */
export function lockInstance(dataDir: string, pid: number): InstanceLock {
  try {
    return lock(dataDir, pid);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'refused',
      isRunning: false,
      message: `The data folder ${dataDir} cannot be used: ${reason}. Make room there or make it writable, or set CLAW_DATA to another folder.`,
    };
  }
}

function lock(dataDir: string, pid: number): InstanceLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidPath = join(dataDir, 'instance.pid');
  const path = join(dataDir, 'instance.db');
  closeSync(openSync(path, 'a', 0o600));
  // A reader (`claw doctor`) holds the file only for a moment.
  const database = new Database(path, { timeout: LOOK_MS });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return { kind: 'refused', isRunning: true, message: refusal(dataDir, pidPath) };
  }
  notePid(pidPath, pid);
  return { kind: 'held', release: () => database.close() };
}

function notePid(path: string, pid: number): void {
  try {
    writeFileSync(path, `${pid}\n`, { mode: 0o600 });
  } catch {
    // Its number is a courtesy, which a full disk does without.
  }
}

/** Returns the process number of the assistant on a data folder: '' where it is unknown, null for none. */
export function lockHolder(dataDir: string): string | null {
  const path = join(dataDir, 'instance.db');
  if (!existsSync(path)) return null;
  const database = new Database(path, { readonly: true, timeout: 0 });
  try {
    database.prepare('SELECT 1 FROM sqlite_master').get();
    return null;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return pidIn(join(dataDir, 'instance.pid'));
  } finally {
    database.close();
  }
}

/** Tells whether an assistant runs on a data folder. */
export function isRunning(dataDir: string): boolean {
  return lockHolder(dataDir) !== null;
}

function pidIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // Its number is a courtesy.
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function refusal(dataDir: string, pidPath: string): string {
  const pid = pidIn(pidPath);
  const holder = pid === '' ? '' : ` (pid ${pid})`;
  return `The assistant already runs on ${dataDir}${holder}. End that one first, or set CLAW_DATA to another folder.`;
}
