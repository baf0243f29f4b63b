import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openArchive } from '../store/backup/archive.ts';
import { backupsFolder, listBackups, prune } from '../store/backup/kept-backups.ts';
import { READ_LIMITS } from '../store/backup/make-backup.ts';
import {
  databasePath,
  forgetDamage,
  hasTables,
  reasonNotToStart,
} from '../store/database-condition.ts';
import { StoreError } from '../store/error.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { databasesFolder } from '../store/own-databases.ts';
import {
  asideFiles,
  finishRepair,
  type Repaired,
  repairDatabase,
  schemaOfMigrations,
} from '../store/repair/repair.ts';
import { openStore } from '../store/store.ts';
import { defineVerb, type VerbCall, VerbError } from '../verb.ts';
import {
  BACKUP_SETTINGS,
  type BackupSettings,
  type Installation,
  lockBySettings,
  lockStopped,
  saveInstallation,
} from './backup/installation.ts';

/** The outcome for one database, for programs. */
type RepairEntry = {
  readonly path: string;
  readonly state: 'whole' | 'repaired' | 'finished' | 'new' | 'failed';
  /** The new path of the damaged file. */
  readonly damagedFile: string | null;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly lines: readonly string[];
};

/** Saves what can be read of damaged databases. */
export const verb = defineVerb({
  name: 'repair',
  help: 'save every readable row of a damaged database; keep the damaged file',
  options: [{ flags: '--empty', help: 'start with an empty database, if the old one is lost' }],
  settings: BACKUP_SETTINGS,
  create:
    ({ projectDir, dataDir, now, settings }) =>
    async (call) => {
      if (!existsSync(dataDir)) {
        if (reasonNotToStart({ projectDir, dataDir }) === null) {
          throw new VerbError('failed', `${dataDir} does not exist: nothing to repair.`);
        }
        mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      }
      const lock = lockStopped(dataDir, 'A repair replaces its database.');
      try {
        const moment = now();
        const newest = await newestBackup(dataDir);
        const saving = saveOnce({ projectDir, dataDir, now }, call, settings);
        const place = { projectDir, dataDir, now: moment, save: saving.save };
        const entries = (await ownPart(call, place)).map(withBackup(newest));
        for (const path of otherDatabases(dataDir)) {
          const entry = await repairOne(path, { ...place, isCore: false, progress: call.progress });
          if (entry.state !== 'whole') entries.push(entry);
        }
        const data = entries.map(({ lines: _, ...entry }) => entry);
        const lines = [...entries.flatMap((entry) => entry.lines), ...saving.lines()];
        if (entries.some(({ state }) => state === 'failed')) {
          throw new VerbError('failed', lines.join('\n'));
        }
        return { data, lines };
      } finally {
        lock.release();
      }
    },
});

/**
 * Saves the installation before the first change, once. Damaged databases are in that backup as they are. If it cannot be
 * made, the repair goes on and says so: a repair keeps the damaged file in any case.
 */
function saveOnce(place: Installation, call: VerbCall, settings: BackupSettings) {
  let saved: readonly string[] | null = null;
  return {
    lines: () => saved ?? [],
    async save(): Promise<void> {
      if (saved !== null) return;
      call.progress('Saving what is here');
      try {
        const lock = lockBySettings(settings);
        const { signal } = call;
        const options = { settings, reason: 'repair', lock, withMedia: false, signal } as const;
        const { file } = await saveInstallation(place, options);
        prune(backupsFolder(place.dataDir), place.now(), null);
        saved = [`What was here before the repair is saved: ${file}`];
      } catch (error) {
        if (call.signal.aborted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        saved = [`There is no backup from before the repair: ${reason}`];
      }
    },
  };
}

type Place = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly now: number;
  readonly save: () => Promise<void>;
};

async function ownPart(call: VerbCall, { now, save, ...folders }: Place): Promise<RepairEntry[]> {
  const path = databasePath(folders.dataDir);
  if (finishRepair(path)) {
    forgetDamage(path);
    return [entryOf(path, 'finished', [`The repair of ${path} that was cut short is finished.`])];
  }
  if (hasTables(path)) {
    return [await repairOne(path, { now, save, isCore: true, progress: call.progress })];
  }
  const reason = reasonNotToStart(folders);
  if (reason === null) {
    return [entryOf(path, 'whole', ['There is no database yet. The first start makes it.'])];
  }
  if (call.options['empty'] !== true) throw new VerbError('failed', reason.message);
  const isWanted = await call.confirm(
    'Start with an empty database? Chats, tasks and history are then gone; memories in groups/ stay.',
  );
  if (!isWanted) throw new VerbError('declined', 'You said no; nothing was changed.');
  await save();
  openStore({ path, now }).close();
  return [entryOf(path, 'new', [`${path} is new and empty. Start the assistant: npx claw start`])];
}

function entryOf(path: string, state: RepairEntry['state'], lines: readonly string[]): RepairEntry {
  return { path, state, damagedFile: null, tables: [], lines };
}

/** Lists the databases of skills, and that of the link to WhatsApp. */
function otherDatabases(dataDir: string): readonly string[] {
  const folder = databasesFolder(dataDir);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.db$/.test(name)) : [];
  const all = [
    ...names.sort().map((name) => join(folder, name)),
    join(dataDir, 'whatsapp/link.db'),
  ];
  for (const path of all) finishRepair(path);
  return all.filter((path) => existsSync(path));
}

async function repairOne(
  path: string,
  options: {
    readonly now: number;
    readonly save: () => Promise<void>;
    readonly isCore: boolean;
    readonly progress: (text: string) => void;
  },
): Promise<RepairEntry> {
  const { now, save, isCore, progress } = options;
  if (isWhole(path)) {
    forgetDamage(path);
    return entryOf(path, 'whole', [`${path} is whole. Nothing was changed.`]);
  }
  await save();
  progress(`Reading what is left of ${path}`);
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').slice(0, 15).replace('T', '-');
  try {
    const repaired = repairDatabase(path, {
      // A skill's own database says by itself what it consists of; its migrations are in its code.
      reference: isCore ? schemaOfMigrations(now) : null,
      stamp: freeStamp(path, stamp),
    });
    forgetDamage(path);
    const { damagedFile } = repaired;
    const tables = repaired.tables.map(({ name, rows }) => ({ name, rows }));
    return { path, state: 'repaired', damagedFile, tables, lines: linesOf(path, repaired) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return entryOf(path, 'failed', [error.message]);
  }
}

/** A backup that can stand in for what could not be saved: its name, its time and its rows. */
type Offer = {
  readonly name: string;
  readonly createdAt: number;
  readonly rows: Readonly<Record<string, number>>;
};

/** Finds the newest backup of the database that needs no key, and reads what it says of itself. */
async function newestBackup(dataDir: string): Promise<Offer | null> {
  for (const { file, name, isLocked, reason, createdAt } of listBackups(backupsFolder(dataDir))) {
    // One from before a repair holds what was damaged then.
    if (isLocked || reason === 'repair') continue;
    try {
      const archive = await openArchive(file, {}, READ_LIMITS);
      archive.close();
      return { name, createdAt, rows: archive.facts.rows };
    } catch {
      // Damaged as well: an older one may be whole.
    }
  }
  return null;
}

/** Adds the counts of a backup to those of a repair, and the way to take it instead. */
function withBackup(offer: Offer | null): (entry: RepairEntry) => RepairEntry {
  return (entry) => {
    if (offer === null || (entry.state !== 'repaired' && entry.state !== 'failed')) return entry;
    const saved = new Map(entry.tables.map(({ name, rows }) => [name, rows]));
    const differing = Object.entries(offer.rows).filter(
      ([name, rows]) => rows !== (saved.get(name) ?? 0) && !name.startsWith('sqlite_'),
    );
    const time = new Date(offer.createdAt).toISOString().slice(0, 16).replace('T', ' ');
    const lines = [
      `Newest backup: ${offer.name}, made ${time} UTC. ${differing.length === 0 ? 'It has as many rows of each table as were saved.' : 'Rows saved now, and rows in it:'}`,
      ...differing.map(([name, rows]) => `  ${name}: ${saved.get(name) ?? 0} saved, ${rows} in it`),
      `To take the database of the backup instead: npx claw restore ${offer.name} --only database`,
    ];
    return { ...entry, lines: [...entry.lines, ...lines] };
  };
}

function freeStamp(path: string, stamp: string): string {
  const isTaken = asideFiles(path).some((aside) => aside.endsWith(stamp));
  return isTaken ? `${stamp}-${asideFiles(path).length}` : stamp;
}

function isWhole(path: string): boolean {
  try {
    const database = openReadOnly(path);
    try {
      return database.pragma('integrity_check(1)', { simple: true }) === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false; // SQLite cannot even open it.
  }
}

function linesOf(path: string, repaired: Repaired): readonly string[] {
  const { tables, unplacedRows, damagedFile } = repaired;
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  const shown = tables.filter(({ rows, damagedPages }) => rows > 0 || damagedPages > 0);
  return [
    `Repaired ${path}: ${rowsText(total)} saved. SQLite finds no fault in the new file.`,
    ...shown.map(({ name, rows, damagedPages }) => {
      const lost =
        damagedPages === 0
          ? ''
          : `; rows on ${damagedPages} damaged ${damagedPages === 1 ? 'page' : 'pages'} are lost`;
      return `  ${name}: ${rowsText(rows)}${lost}`;
    }),
    ...(unplacedRows === 0
      ? []
      : [`  ${rowsText(unplacedRows)} of unknown tables are in the table lost_and_found.`]),
    `The damaged file is kept: ${basename(damagedFile)}. Delete it when you miss nothing.`,
    ...(path.endsWith('link.db')
      ? ['If WhatsApp does not connect any more, link it anew: npx claw setup whatsapp']
      : []),
  ];
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}
