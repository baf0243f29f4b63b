import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { createBudgetForgetter } from '../budgets.ts';
import { StoreError } from '../error.ts';
import type { Messages } from '../messages/messages.ts';
import { type Meta, openMeta } from '../meta.ts';
import { createSpenderForgetter } from '../usage.ts';
import { placeKey } from './chat-places.ts';
import { type Chats, CURRENT_JID } from './chats.ts';
import { choiceKey, switchesKey } from './folder-choices.ts';
import type { MemoryVersions } from './memory-versions.ts';

/** A registered chat: it has a folder, and its messages can become turns. */
export type Group = {
  readonly jid: string;
  /**
   * Name of its folder under `groups/`, which is also its identity towards the sandbox. The owner's own
   * chats share the folder `main`; any other folder has one chat.
   */
  readonly folder: string;
  readonly name: string;
  /** True if only messages that call the assistant get an answer. */
  readonly needsTrigger: boolean;
  /** The word by which messages address it here; null for its name. */
  readonly triggerWord: string | null;
  readonly isMain: boolean;
};

export interface Groups {
  /**
   * Registers a chat that has none; one that is registered already stays as it is.
   *
   * @throws StoreError FOLDER_TAKEN when another chat has that folder, in any case
   */
  register(group: Group, now: number): void;
  /**
   * Makes a chat the owner's own on its channel, whatever it was before. An earlier own chat on that channel
   * loses this: after a new pairing it can be another person's.
   */
  registerMain(chat: Pick<Group, 'jid' | 'name'>, now: number): void;
  /** Marks an own chat as unreachable in this process: such chats are told things last. */
  setAway(jid: string, isAway: boolean): void;
  /** Takes the chat out, and with it its turns, its outbox and whatever else refers to the group. */
  unregister(jid: string): void;
  /** Follows what the chat is called on its channel; the owner's own chats keep their names. */
  rename(jid: string, name: string): void;
  setTrigger(jid: string, trigger: Pick<Group, 'needsTrigger' | 'triggerWord'>): void;
  /** Finds a group, also under an address that its chat had before. */
  byJid(jid: string): Group | null;
  /** Returns the chat of a folder; of the owner's own ones, that they last wrote in. */
  byFolder(folder: string): Group | null;
  all(): readonly Group[];
  /** Returns the owner's own chat that they last wrote in, of those that can be reached. */
  main(): Group | null;
  /** Returns all of the owner's own chats, that one first. */
  mains(): readonly Group[];
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

export function openGroups(database: Database): Groups {
  const columns = 'SELECT jid, folder, name, needs_trigger, trigger_word, is_main FROM groups';
  // Messages from before a registration are no context of its turns.
  const insert = `
    INSERT INTO groups
      (jid, folder, name, needs_trigger, trigger_word, is_main, registered_at, since_seq)
    VALUES (:jid, :folder, :name, :needsTrigger, :triggerWord, :isMain, :now,
      coalesce((SELECT max(seq) FROM messages WHERE jid = :jid), 0))`;
  const register = database.prepare(`${insert} ON CONFLICT (jid) DO NOTHING`);
  const registerMain = database.prepare(`${insert} ON CONFLICT (jid) DO UPDATE
    SET folder = 'main', name = :name, is_main = 1, needs_trigger = 0, trigger_word = NULL`);
  const demote = database.prepare(`
    DELETE FROM groups WHERE is_main = 1 AND jid <> :jid AND jid IN (
      SELECT jid FROM chats WHERE channel = (SELECT channel FROM chats WHERE jid = :jid))`);
  const setAway = database.prepare('UPDATE groups SET is_away = :isAway WHERE jid = :jid');
  const undismiss = database.prepare('UPDATE chats SET is_dismissed = 0 WHERE jid = ?');
  const unregister = database.prepare('DELETE FROM groups WHERE jid = ?');
  const setTrigger = database.prepare(`
    UPDATE groups SET needs_trigger = :needsTrigger, trigger_word = :triggerWord WHERE jid = :jid`);
  const rename = database.prepare(
    'UPDATE groups SET name = :name WHERE jid = :jid AND is_main = 0',
  );
  const byJid = database.prepare(`${columns} WHERE jid = ${CURRENT_JID}`);
  const lastWritten = `is_away, (SELECT seq FROM messages
    WHERE messages.jid = groups.jid AND is_owner = 1 ORDER BY seq DESC LIMIT 1) DESC,
    registered_at, groups.rowid`;
  const byFolder = database.prepare(`${columns} WHERE folder = ? ORDER BY ${lastWritten} LIMIT 1`);
  const all = database.prepare(`${columns} ORDER BY is_main DESC, registered_at, rowid`);
  const mains = database.prepare(`${columns} WHERE is_main = 1 ORDER BY ${lastWritten}`);

  const find = (row: unknown): Group | null => (row === undefined ? null : Row.parse(row));
  const allMains = (): readonly Group[] => mains.all().map((row) => Row.parse(row));
  return {
    register(group, now) {
      const holder = find(byFolder.get(group.folder));
      const isShared = holder?.isMain === true && group.isMain;
      if (holder !== null && holder.jid !== group.jid && !isShared) {
        throw new StoreError(
          'FOLDER_TAKEN',
          `The folder ${group.folder} belongs to ${holder.name} already. Choose another one.`,
        );
      }
      register.run({
        ...group,
        needsTrigger: Number(group.needsTrigger),
        isMain: Number(group.isMain),
        now,
      });
      undismiss.run(group.jid);
    },
    registerMain({ jid, name }, now) {
      const main = { folder: 'main', needsTrigger: 0, triggerWord: null, isMain: 1 };
      registerMain.run({ jid, name, ...main, now });
      demote.run({ jid });
    },
    setAway: (jid, isAway) => void setAway.run({ jid, isAway: Number(isAway) }),
    unregister: (jid) => void unregister.run(jid),
    rename: (jid, name) => void rename.run({ jid, name }),
    setTrigger: (jid, { needsTrigger, triggerWord }) =>
      void setTrigger.run({ jid, needsTrigger: Number(needsTrigger), triggerWord }),
    byJid: (jid) => find(byJid.get({ jid })),
    byFolder: (folder) => find(byFolder.get(folder)),
    all: () => all.all().map((row) => Row.parse(row)),
    main: () => allMains()[0] ?? null,
    mains: allMains,
  };
}

/** The chat of each group's folder, also after that chat was unregistered. */
export interface Folders {
  /** Returns the chat that has or last had a folder, whatever the case of its name; null when none had. */
  holder(folder: string): string | null;
  /** Returns the folder that a chat has or last had. */
  of(jid: string): string | null;
  /** Forgets a folder that is no more, the conversation that went on in it, its tasks, its budget and its model. */
  forget(folder: string): void;
}

type Tables = {
  readonly chats: Chats;
  readonly folders: Folders;
  readonly memoryVersions: Pick<MemoryVersions, 'removeOf'>;
  readonly groups: Groups;
  readonly messages: Messages;
  readonly meta: Meta;
};

/**
 * Deletes everything that the database knows of a chat except its name, which its channel keeps telling.
 * First rows that refer to the group, then its messages, then the claim on its folder.
 *
 * The owner who deletes a group means it: the file is rewritten, since SQLite leaves deleted rows in free and
 * half-filled pages, and the log of changes is emptied. With a million messages that takes seconds.
 */
export function createGroupRemover(database: Database, tables: Tables): (jid: string) => void {
  const { chats, folders, groups, memoryVersions, messages, meta } = tables;
  const remove = database.transaction((jid: string) => {
    groups.unregister(jid);
    messages.removeOf(jid);
    for (let folder = folders.of(jid); folder !== null; folder = folders.of(jid)) {
      folders.forget(folder);
      memoryVersions.removeOf(folder);
      // The folder may be another chat's one day.
      for (const key of [choiceKey(folder), switchesKey(folder), placeKey(folder)])
        meta.remove(key);
    }
    chats.dismiss(jid);
  });
  return (jid) => {
    remove(jid);
    writeAnew(database);
  };
}

function writeAnew(database: Database): void {
  try {
    database.exec('VACUUM');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // The disk has no room for a second copy, or another process is writing. The rows are gone and cannot be
    // found again; their bytes go with the next deletion.
    if (!isTransient(error)) throw error;
  }
}

function isTransient(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code === 'SQLITE_FULL' || code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED';
}

const Holder = z.object({ jid: z.string() });
const Folder = z.object({ folder: z.string() });

export function openFolders(database: Database): Folders {
  const holder = database.prepare('SELECT jid FROM folder_holders WHERE folder = ?');
  const ofChat = database.prepare(
    'SELECT folder FROM folder_holders WHERE jid = ? ORDER BY held_at DESC, folder LIMIT 1',
  );
  const forget = database.prepare('DELETE FROM folder_holders WHERE folder = ?');
  const forgetSession = database.prepare('DELETE FROM sessions WHERE folder = ?');
  const forgetServed = database.prepare('DELETE FROM served WHERE folder = ?');
  const forgetTasks = database.prepare('DELETE FROM tasks WHERE folder = ?');
  const forgetBudget = createBudgetForgetter(database);
  const meta = openMeta(database);
  const forgetSpender = createSpenderForgetter(database);
  return {
    holder(folder) {
      const row = holder.get(folder);
      return row === undefined ? null : Holder.parse(row).jid;
    },
    of(jid) {
      const row = ofChat.get(jid);
      return row === undefined ? null : Folder.parse(row).folder;
    },
    forget: (folder) =>
      database.transaction(() => {
        forget.run(folder);
        forgetSession.run(folder);
        forgetServed.run(folder);
        forgetTasks.run(folder);
        forgetBudget(folder);
        forgetSpender(folder);
        meta.remove(choiceKey(folder));
      })(),
  };
}
