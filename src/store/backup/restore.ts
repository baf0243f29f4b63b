import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, rename, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { openArchive } from './archive.ts';
import {
  type ArchivedFile,
  BackupError,
  type BackupFacts,
  type Part,
  partOf,
} from './archive-format.ts';
import { codeFiles } from './contents.ts';
import { checkDatabase } from './database-copy.ts';
import { fencePath } from './fence.ts';
import { instancePath, READ_LIMITS } from './make-backup.ts';
import type { BackupKeys } from './packed-stream.ts';

/** The two places of an installation, or of a staged one. */
export type Places = { readonly projectDir: string; readonly dataDir: string };

/** A backup that was unpacked beside an installation, and proved. */
export type Unpacked = {
  readonly facts: BackupFacts;
  /** All files of the archive. */
  readonly files: readonly ArchivedFile[];
  /** Those that were unpacked. */
  readonly wanted: readonly ArchivedFile[];
  /** Work that was unfinished when the backup was made. It is not resumed. */
  readonly dropped: { readonly turns: number; readonly messages: number };
};

/** The relation of the link to WhatsApp in a backup to the present one. */
export type LinkComparison =
  | 'not paired'
  | 'another device'
  | 'same'
  | 'newer'
  | 'older'
  | 'both went on'
  | 'unreadable';

/** How a restored installation starts. */
export type Life =
  /** Its channels are silent until the owner says that it is the one. */
  | 'fenced'
  /** It takes the place of the installation that the backup is of. */
  | 'take-over'
  /** It is another installation with the same memories: it has no logins, and an id of its own. */
  | 'new';

/** What a restore says of the link to WhatsApp that is there; null where there is nothing to say. */
const LINK_NOTES: Readonly<Record<LinkComparison, string | null>> = {
  'not paired': null,
  same: 'The link to WhatsApp that is there stays: its keys are those in the backup.',
  newer:
    'The link to WhatsApp comes from the backup: its keys are newer than those that were here.',
  older: 'The link to WhatsApp that is there stays: its keys are newer than those in the backup.',
  'another device':
    'The link to WhatsApp that is there stays: the one in the backup is of another pairing.',
  'both went on':
    'The link to WhatsApp that is there stays: it and the one in the backup have both been used since they were one. If it cannot read messages, link it anew: npx claw setup whatsapp',
  unreadable:
    'The link to WhatsApp that is there stays, since it cannot be compared with the one in the backup. To take the one in the backup, move data/whatsapp away first.',
};

/** Room that stays free. */
const RESERVED_BYTES = 64 * 1024 * 1024;
/** Parts that are never replaced where they are there already, unless they are named. */
const KEPT_IF_THERE: ReadonlySet<Part> = new Set(['other', 'settings']);

/**
 * Unpacks the wanted parts of a backup into empty folders, checks every digest and has SQLite look through each database.
 *
 * Names and kinds of the entries were checked by the archive's reader: each is a plain file below `project/` or `data/`,
 * and is created there as a new one.
 *
 * @throws BackupError as `openArchive` and `files`; NO_ROOM, DATABASE_DAMAGED
 */
export async function unpackBackup(
  file: string,
  keys: BackupKeys,
  staged: Places,
  wants: (part: Part) => boolean,
): Promise<Unpacked> {
  const archive = await openArchive(file, keys, {
    ...READ_LIMITS,
    maxBytes: Math.min(await roomIn(staged.projectDir), await roomIn(staged.dataDir)),
  });
  try {
    for await (const { path, isExecutable, bytes } of archive.files()) {
      if (!wants(partOf(path))) continue;
      const target = placeOf(path, staged);
      await mkdir(dirname(target), { recursive: true, mode: modeOf(path, true) });
      const output = await open(target, 'wx', modeOf(path, isExecutable));
      try {
        for await (const chunk of bytes) await output.write(chunk);
      } finally {
        await output.close();
      }
    }
    const files = archive.proved();
    const wanted = files.filter(({ path }) => wants(partOf(path)));
    for (const { path } of wanted.filter(isOwnDatabase)) checkDatabase(placeOf(path, staged));
    const dropped = wanted.some(({ path }) => path === 'data/claw.db')
      ? endOpenWork(placeOf('data/claw.db', staged))
      : { turns: 0, messages: 0 };
    return { facts: archive.facts, files, wanted, dropped };
  } finally {
    archive.close();
  }
}

async function roomIn(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  return Math.max(0, bavail * bsize - RESERVED_BYTES);
}

/** Returns the place of a backup's file in an installation. */
export function placeOf(path: string, { projectDir, dataDir }: Places): string {
  return path.startsWith('data/') ? join(dataDir, path.slice(5)) : join(projectDir, path.slice(8));
}

/**
 * Returns the mode of a file, or of the folder around one. Sources are for everybody, as git writes them. Agents may be
 * another user and work in folders that are closed further up. All else is the owner's alone.
 */
function modeOf(path: string, isExecutable: boolean): number {
  if (OPEN_PARTS.has(partOf(path))) return isExecutable ? 0o755 : 0o644;
  return isExecutable ? 0o700 : 0o600;
}

const OPEN_PARTS: ReadonlySet<Part> = new Set(['code', 'groups', 'media', 'memory', 'sessions']);

function isOwnDatabase({ path }: ArchivedFile): boolean {
  if (/\.damaged-[^/]*$/.test(path)) return false; // Kept as it was, for whoever wants to look into it.
  return partOf(path) === 'database' || path === 'data/whatsapp/link.db';
}

/**
 * Ends what was under way when the backup was made: the installation has done it since, or the owner asks again. Nobody
 * gets an answer twice.
 */
function endOpenWork(path: string): Unpacked['dropped'] {
  const database = new Database(path, { fileMustExist: true });
  try {
    return database.transaction(() => {
      const messages = database
        .prepare(
          `UPDATE outbox SET state = 'unknown', error = 'A backup was restored before it was known to be sent.'
           WHERE state IN ('queued', 'sending')`,
        )
        .run().changes;
      const turns = database
        .prepare(
          `UPDATE turns SET state = 'gave_up', lease_owner = NULL, lease_until = NULL, error = 'RESTORED'
           WHERE state IN ('queued', 'claimed', 'resuming')`,
        )
        .run().changes;
      return { turns, messages };
    })();
  } catch (error) {
    throw new BackupError(
      'DATABASE_DAMAGED',
      `The database in the backup is not one of this assistant (${String(error)}).`,
      { cause: error },
    );
  } finally {
    database.close();
  }
}

/** One change of place, as the swap makes it; all paths are absolute. */
export type SwapStep = {
  readonly from: string | null;
  readonly to: string;
  readonly aside: string;
};

/** The changes of a restore, in the order in which they are made. */
export type RestorePlan = {
  readonly steps: readonly SwapStep[];
  /** Sentences on what stays as it is, and why. */
  readonly notes: readonly string[];
  /** Source files that the restore writes, and those that it takes away. */
  readonly code: { readonly written: readonly string[]; readonly removed: readonly string[] };
  readonly isFenced: boolean;
};

/**
 * Plans what of an unpacked backup takes the place of what is there. It writes no file but the marks of the new
 * installation, into the staged folders.
 *
 * Folders of groups and conversations are replaced as a whole, sources file by file. A login that is there stays: its keys go
 * on with each message, and older ones in their place would spoil it. So does `.env`. The link to WhatsApp gives way only to
 * one of the same device with newer keys.
 */
export async function planRestore(
  unpacked: Unpacked,
  options: {
    readonly live: Places;
    readonly staged: Places;
    /** Folders for what is replaced, on the disks of the project and of the data. */
    readonly aside: Places;
    /** The parts that the owner has named; null for all. */
    readonly only: ReadonlySet<Part> | null;
    readonly life: Life;
    /** Tells how the link to WhatsApp in a backup stands to the one that is there, by their databases. */
    readonly compareLinks: (here: string, inBackup: string) => LinkComparison;
    /** The id of the installation that is there; null for none. */
    readonly liveInstance: string | null;
    readonly newInstance: string;
    readonly now: number;
  },
): Promise<RestorePlan> {
  const { live, staged, aside, only, life } = options;
  const { facts, wanted } = unpacked;
  const notes: string[] = [];
  const step = (path: string, isRemoval = false): SwapStep => ({
    from: isRemoval ? null : placeOf(path, staged),
    to: placeOf(path, live),
    aside: placeOf(path, aside),
  });
  const steps: SwapStep[] = [];
  for (const [unit, part] of unitsOf(unpacked)) {
    if (part === 'code') continue;
    if ((part === 'link' || part === 'other') && life === 'new') continue;
    const isThere = existsSync(placeOf(unit, live));
    const isNamed = only?.has(part) === true;
    if (isThere && part === 'settings' && !facts.hasSecrets) {
      notes.push('.env stays as it is: this backup has no keys.');
      continue;
    }
    if (isThere && part === 'link') {
      const link = `${unit}/link.db`;
      const [here, inBackup] = [placeOf(link, live), placeOf(link, staged)];
      const found = existsSync(here) ? options.compareLinks(here, inBackup) : 'not paired';
      if (LINK_NOTES[found] !== null) notes.push(LINK_NOTES[found]);
      if (found !== 'not paired' && found !== 'newer') continue;
    } else if (isThere && KEPT_IF_THERE.has(part) && !isNamed) {
      notes.push(keptNote(unit, part));
      continue;
    }
    // The database first: without it nobody opens its log, which would spoil the new one.
    if (part === 'database' && isThere) {
      steps.push(step(unit, true));
      for (const end of ['-wal', '-shm', '-journal']) {
        if (existsSync(placeOf(unit + end, live))) steps.push(step(unit + end, true));
      }
    }
    steps.push(step(unit));
  }
  const code = await planCode(wanted, live, facts);
  for (const path of code.removed) steps.push(step(path, true));
  for (const path of code.written) steps.push(step(path));
  const isSame =
    options.liveInstance === facts.instance && existsSync(join(live.dataDir, 'claw.db'));
  const isFenced =
    life === 'fenced' && !isSame && steps.some(({ to }) => to === join(live.dataDir, 'claw.db'));
  if (isFenced) {
    const mark = { restoredAt: options.now, backupFrom: facts.createdAt };
    await writeStaged(fencePath(staged.dataDir), mark);
    steps.push(step('data/fenced.json'));
  } else if (life !== 'fenced' && existsSync(fencePath(live.dataDir))) {
    steps.push(step('data/fenced.json', true));
  }
  if (only === null || only.has('database')) {
    await writeStaged(instancePath(staged.dataDir), {
      id: life === 'new' ? options.newInstance : facts.instance,
    });
    steps.push(step('data/instance.json'));
  }
  return { steps, notes, code, isFenced };
}

function keptNote(unit: string, part: Part): string {
  if (part === 'settings')
    return '.env is there and stays as it is. To replace it: --only settings';
  const name = unit.slice('data/'.length);
  return `data/${name} is there and stays as it is: its keys are newer. To replace such logins: --only other`;
}

/**
 * Lists what is replaced as a whole: the folder of a group or of a conversation if all of it in the backup is wanted, else
 * file by file.
 */
function unitsOf({ files, wanted }: Unpacked): ReadonlyMap<string, Part> {
  const isWanted = new Set(wanted);
  const partial = new Set(
    files.filter((file) => !isWanted.has(file)).map(({ path }) => unitOf(path)),
  );
  return new Map(
    wanted.map(({ path }) => {
      const unit = unitOf(path);
      return [partial.has(unit) ? path : unit, partOf(path)];
    }),
  );
}

function unitOf(path: string): string {
  const depth = /^(?:project\/groups|data\/(?:sessions|of-chats|media|outgoing))\//.test(path)
    ? 3
    : path.startsWith('data/') && partOf(path) !== 'database'
      ? 2
      : Number.POSITIVE_INFINITY;
  return path.split('/').slice(0, depth).join('/');
}

async function planCode(
  wanted: readonly ArchivedFile[],
  live: Places,
  facts: BackupFacts,
): Promise<RestorePlan['code']> {
  const code = new Map(
    wanted.filter(({ path }) => partOf(path) === 'code').map((file) => [file.path, file]),
  );
  if (code.size === 0) return { written: [], removed: [] };
  const there = new Map((await codeFiles(live.projectDir)).map(({ path, from }) => [path, from]));
  const written: string[] = [];
  for (const [path, file] of code) {
    const from = there.get(path) ?? placeOf(path, live);
    if (!existsSync(from) || (await digestOf(from)) !== file.sha256) written.push(path);
  }
  const tooLarge = (path: string) => facts.leftOut.some((line) => line.startsWith(path.slice(8)));
  const removed = [...there.keys()].filter((path) => !code.has(path) && !tooLarge(path));
  return { written, removed };
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

async function writeStaged(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.draft`;
  await writeFile(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  await rename(draft, path);
}
