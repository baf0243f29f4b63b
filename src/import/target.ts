import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  hasLinkDatabase,
  linkDatabasePath,
  whatsAppFolder,
} from '../channels/whatsapp/session/link-database.ts';
import { readLinkState } from '../channels/whatsapp/session/link-state.ts';
import { copyDatabase } from '../store/backup/database-copy.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { databasePath } from '../store/database-condition.ts';
import { discoverMigrations } from '../store/migrations.ts';
import { digestAt, type Roots } from './file-journal.ts';
import { ImportRefused } from './imported-items.ts';
import type { Here } from './plan.ts';

/** The assistant here, opened to be changed while it does not run. */
export type Target = {
  readonly database: Database;
  readonly roots: Roots;
  readonly now: number;
  /** The data folder whose link to WhatsApp is looked at: that of `roots`, or a copy. */
  readonly linkFolder: string;
};

const MIGRATIONS = join(import.meta.dirname, '../store/migrations');

/**
 * Opens the assistant's database, with the tables that note what an import brought.
 *
 * @param beforeMigration called before tables are made that an older version did not have
 */
export function openTarget(roots: Roots, now: number, beforeMigration?: () => void): Target {
  const linkFolder = roots.data;
  return openAt(databasePath(roots.data), { roots, now, linkFolder, beforeMigration });
}

/** Opens copies of the assistant's databases below a folder, also while the assistant runs. They are never written back. */
export async function openTargetCopy(roots: Roots, now: number, folder: string): Promise<Target> {
  const copy = join(folder, 'database.db');
  const path = databasePath(roots.data);
  if (existsSync(path)) await copyDatabase(path, copy);
  if (hasLinkDatabase(roots.data)) {
    mkdirSync(whatsAppFolder(folder), { recursive: true, mode: 0o700 });
    await copyDatabase(
      linkDatabasePath(whatsAppFolder(roots.data)),
      linkDatabasePath(whatsAppFolder(folder)),
    );
  }
  return openAt(copy, { roots, now, linkFolder: folder });
}

function openAt(
  path: string,
  {
    beforeMigration,
    ...target
  }: Omit<Target, 'database'> & { readonly beforeMigration?: (() => void) | undefined },
): Target {
  const migrations = discoverMigrations(MIGRATIONS);
  return { database: openDatabase(path, migrations, target.now, { beforeMigration }), ...target };
}

type GroupFact = { jid: string; folder: string; channel: string; is_main: number };

/** Looks at everything here that a plan depends on. */
export function lookHere(
  { database, roots, now, linkFolder }: Target,
  facts: Pick<Here, 'assistantName' | 'env'>,
): Here {
  const groups = database
    .prepare('SELECT jid, folder, channel, is_main FROM groups JOIN chats USING (jid)')
    .all() as GroupFact[];
  const names = [join(roots.project, 'groups'), join(roots.data, 'sessions')].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder) : [],
  );
  const onDisk = new Set(names.map((name) => name.normalize('NFC').toLowerCase()));
  const holder = database.prepare('SELECT jid FROM folder_holders WHERE folder = ?').pluck();
  const folderOf = database
    .prepare('SELECT folder FROM folder_holders WHERE jid = ? ORDER BY held_at DESC LIMIT 1')
    .pluck();
  const item = database.prepare('SELECT target FROM import_items WHERE item = ?');
  const state = database.prepare('SELECT state FROM tasks WHERE id = ?').pluck();
  return {
    now,
    ...facts,
    groups: groups.map(({ is_main, ...group }) => ({ ...group, isMain: is_main === 1 })),
    isFolderTaken: (name) =>
      onDisk.has(name.toLowerCase()) ||
      holder.get(name) !== undefined ||
      groups.some(({ folder }) => folder.toLowerCase() === name.toLowerCase()),
    folderOf: (jid) => (folderOf.get(jid) as string | undefined) ?? null,
    item: (name) => (item.get(name) as { target: string | null } | undefined)?.target,
    isTaskWaiting: (id) => state.get(id) === 'paused',
    digest: (path) => digestAt(roots.project, path),
    linkedAs: linkedAs(linkFolder),
  };
}

function linkedAs(dataDir: string): string | null {
  const link = readLinkState(dataDir);
  if (link.kind === 'in-use') {
    throw new ImportRefused('Another process uses the link to WhatsApp. Stop it, then import.');
  }
  return link.kind === 'paired' ? link.phoneNumber : null;
}
