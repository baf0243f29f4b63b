import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { createBudgetForgetter } from '../budgets.ts';
import { openMeta } from '../meta.ts';
import { createSpenderForgetter } from '../usage.ts';
import { choiceKey } from './model-choices.ts';

/** The chat of each group's folder, also after that chat was unregistered. */
export interface Folders {
  /** Returns the chat that has or last had a folder, whatever the case of its name; null when none had. */
  holder(folder: string): string | null;
  /** Returns the folder that a chat has or last had. */
  of(jid: string): string | null;
  /** Forgets a folder that is no more, the conversation that went on in it, its tasks, its budget and its model. */
  forget(folder: string): void;
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
