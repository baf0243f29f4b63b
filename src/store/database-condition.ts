import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { StoreError } from './error.ts';
import { asideFiles } from './repair/repair.ts';

/** The folders of an installation. */
export type InstallationFolders = { readonly projectDir: string; readonly dataDir: string };

/** Returns the path of the assistant's database. */
export function databasePath(dataDir: string): string {
  return join(dataDir, 'claw.db');
}

/**
 * Says why the assistant must not start on its database; null if it may, which includes the first start of all.
 *
 * Without this, a lost database would be a first start: the assistant would come up empty beside the memories and
 * conversations of an older one, and say nothing.
 */
export function reasonNotToStart(folders: InstallationFolders): StoreError | null {
  const path = databasePath(folders.dataDir);
  const noted = notedDamage(path);
  if (noted !== null) return new StoreError('DATABASE_DAMAGED', noted);
  if (existsSync(`${path}.repaired`) && !existsSync(path)) {
    return new StoreError(
      'DATABASE_MISSING',
      `A repair of ${path} was cut short. Run \`npx claw repair\` to finish it: nothing is lost.`,
    );
  }
  const traces = hasTables(path) ? [] : tracesOfOlder(folders);
  if (traces.length === 0) return null;
  const what = existsSync(path) ? 'is empty' : 'is missing';
  return new StoreError(
    'DATABASE_MISSING',
    `The database ${path} ${what}, but an assistant has worked here before: ${traces.join(', ')}. ` +
      'Put a copy of the database back in its place. If you want to start with an empty one, run `npx claw repair --empty`.',
  );
}

/** Tells whether a file has tables, or is damaged: in both cases it is no empty database. */
export function hasTables(path: string): boolean {
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes === 0 && logBytes === 0) return false;
  // An empty database is a page or two; a large one is not read for this.
  if (sizeBytes > EMPTY_BYTES) return true;
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 2_000 });
    try {
      const count = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
      return z.int().parse(count) > 0;
    } finally {
      database.close();
    }
  } catch {
    return true; // Opening it says what is wrong.
  }
}

const EMPTY_BYTES = 64 * 1024;

/**
 * Lists what an assistant that had a database has left. A pairing, a key and what is written for all groups may be
 * there before the first start.
 */
function tracesOfOlder({ projectDir, dataDir }: InstallationFolders): readonly string[] {
  const groups = foldersIn(join(projectDir, 'groups'))
    .filter((name) => name !== 'global')
    .map((name) => `groups/${name}`);
  const sessions = foldersIn(join(dataDir, 'sessions')).map((name) => `sessions of ${name}`);
  const aside = asideFiles(databasePath(dataDir)).map((path) => basename(path));
  const all = [...groups, ...sessions, ...aside];
  return all.length > SHOWN ? [...all.slice(0, SHOWN), `${all.length - SHOWN} more`] : all;
}

const SHOWN = 3;

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => readdirSync(join(folder, name)).length > 0);
  } catch {
    return []; // Not there, or not ours to read.
  }
}

const DamageNote = z.object({ inode: z.string(), message: z.string() });

/** Remembers that a database was found damaged, so that the next start says so before it writes to it. */
export function noteDamage(path: string, message: string): void {
  try {
    const note = { inode: inodeOf(path), message };
    writeFileSync(notePath(path), `${JSON.stringify(note)}\n`, { mode: 0o600 });
  } catch {
    // The next start finds the damage by itself, a little later.
  }
}

/** Returns what was found of this very file; null if it was replaced since, or was never found damaged. */
function notedDamage(path: string): string | null {
  try {
    const note = DamageNote.parse(JSON.parse(readFileSync(notePath(path), 'utf8')));
    return note.inode === inodeOf(path) ? note.message : null;
  } catch {
    return null; // There is no note, or none that can be read.
  }
}

/** Forgets what was noted: the database is whole. */
export function forgetDamage(path: string): void {
  rmSync(notePath(path), { force: true });
}

function notePath(path: string): string {
  return `${path}.damage.json`;
}

function inodeOf(path: string): string {
  const { ino, birthtimeMs } = statSync(path);
  return `${ino} ${birthtimeMs}`;
}
