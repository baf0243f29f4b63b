import type { Database } from 'better-sqlite3';
import type { Messages } from '../messages/messages.ts';
import type { Meta } from '../meta.ts';
import type { Chats } from './chats.ts';
import type { Folders } from './folders.ts';
import type { Groups } from './groups.ts';
import { choiceKey } from './model-choices.ts';
import { switchesKey } from './tool-switches.ts';

type Tables = {
  readonly chats: Chats;
  readonly folders: Folders;
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
  const { chats, folders, groups, messages, meta } = tables;
  const remove = database.transaction((jid: string) => {
    groups.unregister(jid);
    messages.removeOf(jid);
    for (let folder = folders.of(jid); folder !== null; folder = folders.of(jid)) {
      folders.forget(folder);
      // The folder may be another chat's one day.
      for (const key of [choiceKey(folder), switchesKey(folder)]) meta.remove(key);
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
