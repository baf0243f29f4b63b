import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { StoreError } from './error.ts';

/** A registered chat: it has a folder, and its messages can become turns. */
export type Group = {
  readonly jid: string;
  /** Name of its folder under `groups/`, which is also its identity towards the sandbox. */
  readonly folder: string;
  readonly name: string;
  /** Whether only messages that call the assistant get an answer. */
  readonly needsTrigger: boolean;
  /** How messages call it here; null for its name. */
  readonly triggerWord: string | null;
  readonly isMain: boolean;
};

export interface Groups {
  /** @throws StoreError FOLDER_TAKEN when another group has that folder, in any case */
  register(group: Group, now: number): void;
  byJid(jid: string): Group | null;
  byFolder(folder: string): Group | null;
  all(): readonly Group[];
  main(): Group | null;
}

const Row = z
  .object({
    jid: z.string(),
    folder: z.string(),
    name: z.string(),
    needs_trigger: z.int(),
    trigger_word: z.string().nullable(),
    is_main: z.int(),
  })
  .transform((row) => ({
    jid: row.jid,
    folder: row.folder,
    name: row.name,
    needsTrigger: row.needs_trigger === 1,
    triggerWord: row.trigger_word,
    isMain: row.is_main === 1,
  }));

export function groupsOf(database: Database): Groups {
  const columns = 'SELECT jid, folder, name, needs_trigger, trigger_word, is_main FROM groups';
  const insert = database.prepare(`
    INSERT INTO groups (jid, folder, name, needs_trigger, trigger_word, is_main, registered_at)
    VALUES (:jid, :folder, :name, :needsTrigger, :triggerWord, :isMain, :now)
    ON CONFLICT (jid) DO NOTHING`);
  const byJid = database.prepare(`${columns} WHERE jid = ?`);
  const byFolder = database.prepare(`${columns} WHERE folder = ?`);
  const all = database.prepare(`${columns} ORDER BY is_main DESC, registered_at, jid`);
  const main = database.prepare(`${columns} WHERE is_main = 1 ORDER BY registered_at LIMIT 1`);

  const find = (row: unknown): Group | null => (row === undefined ? null : Row.parse(row));
  return {
    register(group, now) {
      const holder = find(byFolder.get(group.folder));
      if (holder !== null && holder.jid !== group.jid) {
        throw new StoreError(
          'FOLDER_TAKEN',
          `The folder ${group.folder} belongs to ${holder.name} already. Choose another one.`,
        );
      }
      insert.run({
        ...group,
        needsTrigger: Number(group.needsTrigger),
        isMain: Number(group.isMain),
        now,
      });
    },
    byJid: (jid) => find(byJid.get(jid)),
    byFolder: (folder) => find(byFolder.get(folder)),
    all: () => all.all().map((row) => Row.parse(row)),
    main: () => find(main.get()),
  };
}
