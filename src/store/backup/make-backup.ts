import { createHash, randomUUID } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { openArchive, writeArchive } from './archive.ts';
import {
  type ArchivedFile,
  BackupError,
  type BackupFacts,
  type BackupReason,
  FORMAT,
} from './archive-format.ts';
import { gatherContents } from './contents.ts';
import { backupName, backupsFolder } from './kept-backups.ts';
import type { BackupKeys, BackupLock } from './packed-stream.ts';

/** The installation that is saved, and how. */
export type BackupOptions = {
  /** Absolute path of the project. */
  readonly projectDir: string;
  /** Absolute path of the data folder. */
  readonly dataDir: string;
  /** The list of folders that chats share, which lies elsewhere; null for none. */
  readonly mountsFile?: string | null;
  /** The folder that gets the file; `data/backups` by default. */
  readonly folder?: string;
  readonly reason: BackupReason;
  /** Keys and logins are in it only if it is locked. */
  readonly lock: BackupLock;
  /** False leaves keys and logins out of a locked backup too. */
  readonly withSecrets?: boolean;
  /** False leaves out the files that people have sent. */
  readonly withMedia?: boolean;
  /** Tells whether a setting of `.env` holds a key. */
  readonly isSecret: (name: string, value: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal?: AbortSignal;
};

/** A backup that is complete and on disk. */
export type MadeBackup = {
  /** Absolute path of the file. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly facts: BackupFacts;
  readonly files: readonly ArchivedFile[];
};

/** Limits for reading an archive without writing anything of it. */
export const READ_LIMITS = { maxEntries: 1_000_000, maxBytes: 1024 ** 4 } as const;

/**
 * Saves an installation into one new file, also while the assistant runs. The file has its name only when it is
 * complete, on disk, and was read again. Memory stays flat; the disk needs room for the databases once more meanwhile.
 *
 * SQLite's work blocks the thread: call it in a process that nobody waits for.
 *
 * @throws BackupError DATABASE_DAMAGED, BAD_RECIPIENT, SPOILED; the file system's error
 */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { projectDir, dataDir, reason, lock, isSecret, now, signal } = options;
  const folder = options.folder ?? backupsFolder(dataDir);
  const hasSecrets = lock.kind !== 'none' && options.withSecrets !== false;
  const hasMedia = options.withMedia !== false;
  const id = randomUUID();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweepKilled(join(dataDir, 'tmp'), /^backup-(\d+)-/);
  await sweepKilled(folder, /^patchclaw-.*\.(\d+)\.part$/);
  const stagingDir = join(dataDir, 'tmp', `backup-${process.pid}-${id}`);
  const file = join(
    folder,
    await freeName(folder, { now, reason, isLocked: lock.kind !== 'none' }),
  );
  const unfinished = `${file}.${process.pid}.part`;
  try {
    const contents = await gatherContents({
      projectDir,
      dataDir,
      withSecrets: hasSecrets,
      mountsFile: options.mountsFile ?? null,
      withMedia: hasMedia,
      withDamaged: reason === 'repair',
      isSecret,
      stagingDir,
    });
    const facts: BackupFacts = {
      format: FORMAT,
      id,
      instance: await instanceOf(dataDir),
      createdAt: now,
      version: await versionOf(projectDir),
      reason,
      hasSecrets,
      hasMedia,
      rows: { ...contents.rows },
      leftOut: contents.leftOut.slice(0, 200).map((line) => line.slice(0, 2_000)),
    };
    const { files, sha256 } = await writeArchive(unfinished, {
      ...{ facts, lock, signal },
      items: contents.items(),
    });
    await proveWritten(unfinished, lock, sha256);
    await rename(unfinished, file);
    syncFolder(folder);
    return { file, sizeBytes: (await stat(file)).size, facts, files };
  } finally {
    await rm(unfinished, { force: true });
    await rm(stagingDir, { recursive: true, force: true });
  }
}

/** Reads a new backup again. A locked one is compared with what was written, since its key is elsewhere. */
async function proveWritten(path: string, lock: BackupLock, sha256: string): Promise<void> {
  if (lock.kind === 'none') {
    await verifyBackup(path);
    return;
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  if (hash.digest('hex') === sha256) return;
  throw new BackupError(
    'SPOILED',
    'The disk holds something else than was written to it. Check the disk, then try again.',
  );
}

/**
 * Reads a backup to its end: each layer, and the digest of each file. Writes nothing.
 *
 * @throws BackupError NOT_A_BACKUP, SPOILED, KEY_NEEDED, WRONG_KEY, NEWER_FORMAT
 */
export async function verifyBackup(
  file: string,
  keys: BackupKeys = {},
): Promise<Pick<MadeBackup, 'facts' | 'files'>> {
  const archive = await openArchive(file, keys, READ_LIMITS);
  try {
    for await (const _ of archive.files()) {
      // Each is proved on the way to the next.
    }
    return { facts: archive.facts, files: archive.proved() };
  } finally {
    archive.close();
  }
}

const Instance = z.object({ id: z.string().min(1).max(64) });

/** Returns the id of an installation, which is made when it is asked for first. */
export async function instanceOf(dataDir: string): Promise<string> {
  const path = instancePath(dataDir);
  try {
    return Instance.parse(JSON.parse(await readFile(path, 'utf8'))).id;
  } catch {
    const id = randomUUID();
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(path, `${JSON.stringify({ id })}\n`, { mode: 0o600 });
    return id;
  }
}

/** Returns the file that holds the id of an installation. */
export function instancePath(dataDir: string): string {
  return join(dataDir, 'instance.json');
}

/** Deletes what killed backups have left in a folder; the name says which process it was of. */
async function sweepKilled(folder: string, pattern: RegExp): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, pid] = pattern.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function versionOf(projectDir: string): Promise<string> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8'));
    return z.object({ version: z.string().max(64) }).parse(manifest).version;
  } catch {
    return 'unknown';
  }
}

async function freeName(
  folder: string,
  facts: { readonly now: number; readonly reason: BackupReason; readonly isLocked: boolean },
): Promise<string> {
  for (let second = 0; ; second += 1) {
    const name = backupName({ ...facts, now: facts.now + second * 1_000 });
    const isTaken = await stat(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
