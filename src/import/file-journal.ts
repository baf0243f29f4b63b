import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { list, text } from '../lib/bounded-schema.ts';
import { ImportRefused } from './imported-items.ts';

/** A root below which an import writes. */
export type Place = 'project' | 'data';
export type Roots = Readonly<Record<Place, string>>;

/** A file that is to be another one, or none: digests say which states are expected. */
export type FileChange = {
  readonly place: Place;
  /** Below its root, with `/`. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The staged file with the new bytes, below the journal's folder; null where the file goes. */
  readonly staged: string | null;
};

/**
 * The changes of files after the database has been changed. The database decides: the changes count if the row of
 * import `id` exists (`kind: import`) or is gone (`kind: undo`). So if a kill comes between the two, the next command
 * finishes or drops them.
 */
export type FileJournal = {
  readonly kind: 'import' | 'undo';
  readonly id: number;
  readonly changes: readonly FileChange[];
};

const Digest = z.string().length(64).nullable();
const Journal = z.object({
  kind: z.enum(['import', 'undo']),
  id: z.int(),
  changes: list(
    z.object({
      place: z.enum(['project', 'data']),
      path: text(4_096),
      before: Digest,
      after: Digest,
      staged: text(4_096).nullable(),
    }),
    100_000,
  ),
});

/** Returns the folder below the data folder that holds journals and the files from before. */
export function importsFolder(dataDir: string): string {
  return join(dataDir, 'imports');
}

function journalPath(dataDir: string): string {
  return join(importsFolder(dataDir), 'journal.json');
}

/** Writes the journal, on disk when it returns. */
export function writeJournal(dataDir: string, journal: FileJournal): void {
  const path = journalPath(dataDir);
  writeThrough(`${path}.new`, Buffer.from(JSON.stringify(journal)));
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

/** Reads the journal of an import or undo that was cut short; null for none. */
export function readJournal(dataDir: string): FileJournal | null {
  const path = journalPath(dataDir);
  if (!existsSync(path)) return null;
  return Journal.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** Forgets the journal: all that it says is done, or does not count. */
export function removeJournal(dataDir: string): void {
  rmSync(journalPath(dataDir), { force: true });
}

/**
 * Carries out the changes of a journal; each can be repeated. A file that is neither as expected nor as wanted was
 * changed by somebody meanwhile, and stays.
 *
 * @returns the paths that stayed
 */
export function carryOutChanges(
  roots: Roots,
  journal: FileJournal,
  onChange: () => void = () => {},
): readonly string[] {
  const kept: string[] = [];
  for (const { place, path, before, after, staged } of journal.changes) {
    onChange();
    const target = join(roots[place], path);
    // The name is the same in each run: what a kill has left there is found again.
    const beside = `${target}.${journal.kind}-${journal.id}.new`;
    const now = digestAt(roots[place], path);
    if (now !== 'blocked') rmSync(beside, { force: true });
    if (now === after) continue;
    if (now !== before) {
      kept.push(path);
      continue;
    }
    if (staged === null) {
      unlinkSync(target);
      removeEmptyFolders(roots[place], dirname(path));
      continue;
    }
    mkdirSync(dirname(target), { recursive: true, mode: modeOfFolder(path) });
    copyThrough(join(importsFolder(roots.data), staged), beside);
    renameSync(beside, target);
  }
  return kept;
}

/** Agents may be another user, who has to get into the folder of a chat. All else is the owner's alone. */
function modeOfFolder(path: string): number {
  return /^(groups|sessions)\//.test(path) ? 0o755 : 0o700;
}

/** Removes folders that an undone import has left empty, up to `groups/<chat>` and the like. */
function removeEmptyFolders(root: string, path: string): void {
  for (let at = path; at.includes('/'); at = dirname(at)) {
    try {
      rmdirSync(join(root, at));
    } catch {
      return; // Something is still in it.
    }
  }
}

/**
 * Computes the digest of a file; null where there is none. A link or a folder in its place, or a link in place of a
 * folder above it, is `blocked`: an agent may have made it, and nothing is written through it.
 */
export function digestAt(root: string, path: string): string | null | 'blocked' {
  const names = path.split('/');
  for (let count = 1; count < names.length; count += 1) {
    const stats = lstatSync(join(root, ...names.slice(0, count)), { throwIfNoEntry: false });
    if (stats === undefined) return null;
    if (!stats.isDirectory()) return 'blocked';
  }
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isFile() ? digestOfFile(join(root, path)) : 'blocked';
}

function digestOfFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Stages bytes below the journal's folder, on disk when it returns. Returns their digest. */
export function stageBytes(dataDir: string, staged: string, bytes: Uint8Array): string {
  const path = join(importsFolder(dataDir), staged);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeThrough(path, bytes);
  return createHash('sha256').update(bytes).digest('hex');
}

/** Stages a copy of a file, on disk when it returns. Returns its digest. */
export function stageCopy(dataDir: string, staged: string, from: string): string {
  const path = join(importsFolder(dataDir), staged);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyThrough(from, path);
  return digestOfFile(path);
}

function writeThrough(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function copyThrough(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new ImportRefused(
      `${from} has changed while it was read. Nothing was changed: try again.`,
    );
  }
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  const file = openSync(to, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
