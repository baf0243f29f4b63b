import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type InstanceLock =
  | { readonly kind: 'held'; readonly release: () => void }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Makes this the only assistant on a data folder: two would answer every message twice.
 *
 * The lock is an open SQLite transaction, which the kernel drops when the process dies, however it
 * dies. Nothing else in this process may open that file, and the returned value must be kept: with
 * it the garbage collector would take the lock.
 */
export function lockInstance(dataDir: string, pid: number): InstanceLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidPath = join(dataDir, 'instance.pid');
  const path = join(dataDir, 'instance.db');
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return { kind: 'refused', message: refusal(dataDir, pidPath) };
  }
  writeFileSync(pidPath, `${pid}\n`, { mode: 0o600 });
  return { kind: 'held', release: () => database.close() };
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function refusal(dataDir: string, pidPath: string): string {
  let holder = '';
  try {
    holder = ` (pid ${readFileSync(pidPath, 'utf8').trim()})`;
  } catch {
    // Without its number the message still says what to do.
  }
  return `The assistant already runs on ${dataDir}${holder}. End that one first, or set CLAW_DATA to another folder.`;
}
