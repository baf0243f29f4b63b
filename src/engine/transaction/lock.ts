import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { ClawError } from '../errors.ts';
import { lstat } from '../skill/lstat.ts';
import type { Holder } from './journal.ts';
import { liveHolder, writeHolder } from './recover.js';

const RETRY_MS = 25;

// What is kept here is committed to the byte, whatever the rules of the project around it say.
const IGNORED = '!*\n/pending/\n/backup/\n/tx/\n/lock.db*\n/cache/\n';
const ATTRIBUTES = '* -text -ident -filter !working-tree-encoding -export-ignore -export-subst\n';

/**
 * Runs something while no other claw command can, on the same project.
 *
 * The lock is an exclusive SQLite transaction on `.claw/lock.db`, so the kernel drops it when this
 * process dies. Nothing else in the process may open that file: closing it would drop the lock.
 * Makes `.claw/` where there is none, and takes it away again if it was left unused.
 *
 * @throws ClawError LOCK_HELD naming the holder, after `timeoutMs`; whatever `work` throws
 */
export async function withLock<T>(
  root: string,
  options: { readonly verb: string; readonly timeoutMs?: number },
  work: () => T | Promise<T>,
): Promise<T> {
  const isNew = !fs.existsSync(join(root, '.claw'));
  const until = performance.now() + (options.timeoutMs ?? 2000);
  let lock = await tryLock(root);
  while (lock === null) {
    if (performance.now() >= until) throw lockHeldBy(liveHolder(root));
    await sleep(RETRY_MS);
    lock = await tryLock(root);
  }
  try {
    writeHolder(root, options.verb);
    return await work();
  } finally {
    fs.rmSync(join(root, '.claw/cache/holder.json'), { force: true });
    if (isNew) removeUnused(root);
    lock.close();
  }
}

/** @returns null while another process has it, or has just taken an unused `.claw/` away */
async function tryLock(root: string): Promise<Database | null> {
  // Loaded for who locks: verbs that only read do without.
  const { default: Sqlite } = await import('better-sqlite3');
  const path = join(root, '.claw/lock.db');
  let database: Database | null = null;
  try {
    makeFolder(root);
    const expected = inode(path);
    database = new Sqlite(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    // A file that was removed before we locked it is one that no other command will ever open.
    if (expected !== null && expected === inode(path)) return database;
  } catch (error) {
    if (!isTemporary(error, path)) {
      database?.close();
      throw cannotLock(path, error);
    }
  }
  database?.close();
  return null;
}

function isTemporary(error: unknown, path: string): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) return true;
  const isRefused = code === 'EACCES' || code === 'EROFS' || code === 'EPERM' || code === 'ENOSPC';
  return !isRefused && !fs.existsSync(dirname(path));
}

function cannotLock(path: string, cause: unknown): ClawError {
  const message = lstat(path)?.isDirectory()
    ? `${path} is a folder where the lock belongs. Move it away.`
    : `Could not lock ${path} (${String(cause)}). Is there room, and may you write there?`;
  return new ClawError('IO_FAILED', message, { path, cause });
}

function makeFolder(root: string): void {
  fs.mkdirSync(join(root, '.claw'), { recursive: true });
  // SQLite locks a file on a read-only disk as well; nothing could be published there.
  fs.accessSync(join(root, '.claw'), fs.constants.W_OK);
  writeIfAbsent(join(root, '.claw/.gitignore'), IGNORED);
  writeIfAbsent(join(root, '.claw/.gitattributes'), ATTRIBUTES);
  writeIfAbsent(join(root, '.claw/lock.db'), '');
}

/** Never opens a file that is there: closing `lock.db` would drop a lock held in this process. */
function writeIfAbsent(path: string, text: string): void {
  try {
    fs.writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** A command that was refused leaves no trace in a codebase that claw has nothing to do with. */
function removeUnused(root: string): void {
  const folder = join(root, '.claw');
  const isUsed = (name: string) =>
    !/^(\.git(ignore|attributes)|cache|lock\.db.*)$/.test(name) &&
    !(['tx', 'backup'].includes(name) && fs.readdirSync(join(folder, name)).length === 0);
  if (fs.readdirSync(folder).some(isUsed)) return;
  try {
    fs.rmSync(folder, { recursive: true });
  } catch (error) {
    // A waiting command has put something there meanwhile, and will take it away itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY')) throw error;
  }
}

function inode(path: string): bigint | null {
  return fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

/** What a command is told that came while another one runs; null where it did not say who it is. */
export function lockHeldBy(holder: Holder | null): ClawError {
  const who = holder === null ? '' : ` (claw ${holder.verb}, pid ${holder.pid})`;
  return new ClawError(
    'LOCK_HELD',
    `Another claw command is running${who}. Wait for it to finish.`,
    {
      data: holder === null ? {} : { pid: holder.pid, verb: holder.verb },
    },
  );
}
