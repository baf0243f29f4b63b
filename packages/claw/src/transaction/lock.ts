import * as fs from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClawError } from '../errors.ts';
import { lstat } from '../package/regular-file.ts';
import type { Holder } from './journal.ts';
import {
  builtInSqlite,
  linkInOwnFolder,
  liveHolder,
  replaceForeignLock,
  writeHolder,
} from './recover.js';

const RETRY_MS = 25;
// While others make and take away an unused `.claw/`, any one attempt can find a part of it gone; that many
// in a row can not.
const ATTEMPTS_AT_A_FAULT = 40;
const LOCK = 'lock.db';

// Files below .claw are committed to the byte, whatever the rules of the project around it say.
const IGNORED = '!*\n/pending/\n/backup/\n/tx/\n/lock.db*\n/cache/\n';
/** Each of these folders also ignores itself: a branch without `.claw/` has no `.claw/.gitignore`. */
const PRIVATE_FOLDERS = ['backup', 'cache', 'pending', 'tx'];
const ATTRIBUTES = '* -text -ident -filter !working-tree-encoding -export-ignore -export-subst\n';

/**
 * Runs something while no other claw command can, on the same project.
 *
 * The lock is an exclusive SQLite transaction on `.claw/lock.db`, so the kernel drops it when this process
 * dies. Nothing else in the process may open that file: closing it would drop the lock.
 *
 * Files that it has to make for that, down to `.claw/` itself, are removed again where nothing was published
 * and nothing waits. So a refused command leaves nothing that git would trip over on another branch.
 *
 * @throws ClawError LOCK_HELD naming the holder, after `timeoutMs`; LINK_REFUSED if a part of `.claw/` is a link;
 *   every error of `work`
 */
export async function withLock<T>(
  root: string,
  options: { readonly verb: string; readonly timeoutMs?: number },
  work: () => T | Promise<T>,
): Promise<T> {
  const link = linkInOwnFolder(root);
  if (link !== null) throw linkRefused(link);
  const made = new Set<string>();
  const lock = await waitForLock(root, { made, timeoutMs: options.timeoutMs ?? 2000 });
  // SQLite keeps its journal beside its file as long as the lock is held.
  const kept = new Set(['.', ...listNames(root)].filter((name) => !made.has(lockOr(name))));
  const before = readUses(root);
  try {
    writeIfAbsent(join(root, '.claw/.gitignore'), IGNORED);
    writeIfAbsent(join(root, '.claw/.gitattributes'), ATTRIBUTES);
    writeHolder(root, options.verb);
    return await work();
  } finally {
    attempt(() => fs.rmSync(join(root, '.claw/cache/holder.json'), { force: true }));
    attempt(() => ignorePrivateFolders(root));
    attempt(() => removeUnused(root, { kept, before }));
    // The last file that git would see on a branch without `.claw/`. Whoever opened it meanwhile finds it gone.
    attempt(() => fs.rmSync(join(root, '.claw', LOCK), { force: true }));
    attempt(() => lock.close());
  }
}

/** Tidies up without throwing: the work is done or has failed by then, and an error here would hide which. */
function attempt(tidy: () => void): void {
  try {
    tidy();
  } catch {
    // The holder's name is read only while its process lives; the lock goes with this process.
  }
}

async function waitForLock(
  root: string,
  { made, timeoutMs }: { made: Set<string>; timeoutMs: number },
): Promise<DatabaseSync> {
  const until = performance.now() + timeoutMs;
  let faults = 0;
  for (;;) {
    const lock = await tryLock(root, made);
    if (!(lock instanceof ClawError) && lock !== null) return lock;
    faults = lock === null ? 0 : faults + 1;
    if (lock !== null && faults >= ATTEMPTS_AT_A_FAULT) throw lock;
    if (performance.now() >= until) throw lock ?? lockHeldBy(liveHolder(root));
    await sleep(RETRY_MS);
  }
}

/**
 * @returns null while another process has it; an error where it could not be locked, be it only because
 *   another command takes an unused `.claw/` away at this moment
 */
async function tryLock(root: string, made: Set<string>): Promise<DatabaseSync | ClawError | null> {
  const sqlite = builtInSqlite();
  if (sqlite === null)
    throw new ClawError('IO_FAILED', 'This Node has no SQLite. Use Node 22.13 or newer.');
  const path = join(root, '.claw', LOCK);
  let database: DatabaseSync | null = null;
  try {
    makeFolder(root, made);
    replaceForeignLock(root);
    writeIfAbsent(path, '');
    const expected = inode(path);
    database = new sqlite.DatabaseSync(path);
    database.exec('BEGIN EXCLUSIVE');
    // A file that was removed before we locked it is one that no other command will ever open.
    if (expected !== null && expected === inode(path)) return database;
  } catch (error) {
    database?.close();
    return isBusy(error) ? null : cannotLock(path, error);
  }
  database?.close();
  return null;
}

/**
 * Makes the error for a link in a place where claw keeps its own files: they would be written or removed elsewhere.
 */
export function linkRefused(place: string): ClawError {
  const message =
    `${place} is a symbolic link. claw follows no links below .claw, as they could lead anywhere. Remove it, ` +
    'or put the real folder or file in its place.';
  return new ClawError('LINK_REFUSED', message, { path: place });
}

function isBusy(error: unknown): boolean {
  // The low byte is the primary code: 5 is SQLITE_BUSY.
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' && (code & 0xff) === 5;
}

function cannotLock(path: string, cause: unknown): ClawError {
  const message = lstat(path)?.isDirectory()
    ? `${path} is a folder where the lock belongs. Move it away.`
    : `Could not lock ${path} (${String(cause)}). Is there room, and may you write there?`;
  return new ClawError('IO_FAILED', message, { path, cause });
}

/** @param made gets what was not there: `.` for `.claw/` itself, and the name of the lock */
function makeFolder(root: string, made: Set<string>): void {
  if (ifAbsent(() => fs.mkdirSync(join(root, '.claw')))) made.add('.');
  // SQLite locks a file on a read-only disk as well; nothing could be published there.
  fs.accessSync(join(root, '.claw'), fs.constants.W_OK);
  if (writeIfAbsent(join(root, '.claw', LOCK), '')) made.add(LOCK);
}

/**
 * Creates a file if it is absent. Never opens an existing one: closing `lock.db` would drop a lock held in
 * this process.
 *
 * @returns whether it was absent
 */
function writeIfAbsent(path: string, text: string): boolean {
  return ifAbsent(() => fs.writeFileSync(path, text, { flag: 'wx' }));
}

function ifAbsent(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function ignorePrivateFolders(root: string): void {
  for (const name of PRIVATE_FOLDERS) {
    const folder = join(root, '.claw', name);
    if (fs.existsSync(folder)) writeIfAbsent(join(folder, '.gitignore'), '*\n');
  }
}

/** Matches files of the lock and caches; all others below `.claw/` are of use to a later command. */
const SCAFFOLD = /^(\.git(ignore|attributes)|cache|lock\.db.*)$/;

/** Lists the useful entries below `.claw/`, each with a mark that changes when it is replaced or filled. */
function readUses(root: string): ReadonlyMap<string, string> {
  const uses = new Map<string, string>();
  for (const name of listNames(root).filter((one) => !SCAFFOLD.test(one))) {
    // Views come and go in there, and the record of what is taken back at once; only what stays is of use.
    if (name === 'tx' || name === 'backup') {
      const left = listNames(root, name).filter(isTransaction).join(' ');
      if (name === 'tx' || left !== '') uses.set(name, left);
      continue;
    }
    const { ino, mtimeNs } = fs.lstatSync(join(root, '.claw', name), { bigint: true });
    uses.set(name, `${ino} ${mtimeNs}`);
  }
  return uses;
}

function listNames(root: string, below = '.'): readonly string[] {
  return fs.readdirSync(join(root, '.claw', below));
}

function lockOr(name: string): string {
  return name.startsWith(LOCK) ? LOCK : name;
}

function isTransaction(name: string): boolean {
  return /^\d{6}-/.test(name);
}

/** @param found `kept`: what was there before this command; `before`: what of it was of use */
function removeUnused(
  root: string,
  { kept, before }: { kept: ReadonlySet<string>; before: ReadonlyMap<string, string> },
): void {
  const isUsed = [...readUses(root)].some(([name, mark]) => mark !== (before.get(name) ?? ''));
  if (isUsed) return;
  // Where something is installed, and git is told to ignore it, the next command finds what this one computed.
  const isInstalled = kept.has('state.yaml') && kept.has('.gitignore');
  const unused = listNames(root).filter(
    (one) => !kept.has(one) && !(isInstalled && one === 'cache'),
  );
  // In alphabetical order the lock is the last: who makes one of their own then finds the rest gone.
  for (const name of unused.toSorted()) {
    fs.rmSync(join(root, '.claw', name), { recursive: true, force: true });
  }
  // Fails where a waiting command has added a file meanwhile: that command removes the folder itself.
  if (!kept.has('.')) fs.rmdirSync(join(root, '.claw'));
}

function inode(path: string): bigint | null {
  return fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

/** Makes the error for a command that met a running one; the holder is null where it did not name itself. */
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
