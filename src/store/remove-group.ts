import type { Database } from 'better-sqlite3';
import type { Chats } from './chats.ts';
import type { Folders } from './folders.ts';
import type { Groups } from './groups.ts';
import type { Messages } from './messages.ts';

type Tables = {
  readonly chats: Chats;
  readonly folders: Folders;
  readonly groups: Groups;
  readonly messages: Messages;
};

/**
 * Deletes all that the database knows of a chat but its name, which its channel keeps telling:
 * what refers to the group goes with it, then what was said, then whose folder it was. The bytes are
 * overwritten, and the log of changes, which still has them, is emptied.
 */
export function groupRemoverOf(database: Database, tables: Tables): (jid: string) => void {
  const { chats, folders, groups, messages } = tables;
  const remove = database.transaction((jid: string) => {
    groups.unregister(jid);
    messages.removeOf(jid);
    for (let folder = folders.of(jid); folder !== null; folder = folders.of(jid)) {
      folders.forget(folder);
    }
    chats.dismiss(jid);
  });
  return (jid) => {
    remove(jid);
    database.pragma('wal_checkpoint(TRUNCATE)');
  };
}
