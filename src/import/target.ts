import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readLinkState } from '../channels/whatsapp/session/link-state.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { databasePath } from '../store/database-condition.ts';
import { discoverMigrations } from '../store/migrations.ts';
import { digestAt, type Roots } from './file-journal.ts';
import { ImportRefused } from './items.ts';
import type { Here } from './plan.ts';

/** The assistant here, opened to be changed while it does not run. */
export type Target = {
  readonly database: Database;
  readonly roots: Roots;
  readonly now: number;
};

const MIGRATIONS = join(import.meta.dirname, '../store/migrations');

/** Opens the assistant's database, with the tables that note what an import brought. */
export function openTarget(roots: Roots, now: number): Target {
  const database = openDatabase(databasePath(roots.data), discoverMigrations(MIGRATIONS), now);
  return { database, roots, now };
}

type GroupFact = { jid: string; folder: string; channel: string; is_main: number };

/** Looks at everything here that a plan depends on. */
export function lookHere(
  { database, roots, now }: Target,
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
    linkedAs: linkedAs(roots.data),
  };
}

function linkedAs(dataDir: string): string | null {
  const link = readLinkState(dataDir);
  if (link.kind === 'in-use') {
    throw new ImportRefused('Another process uses the link to WhatsApp. Stop it, then import.');
  }
  return link.kind === 'paired' ? link.phoneNumber : null;
}
