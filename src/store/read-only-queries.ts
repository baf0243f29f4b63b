import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { openChats } from './chats/chats.ts';
import { type Group, openGroups } from './chats/groups.ts';
import type { Task } from './turns/task.ts';
import { openTaskRuns, type TaskRun } from './turns/task-runs.ts';
import { openTasks } from './turns/tasks.ts';

/** A chat as one who only looks sees it: registered with its group's facts, or known by name. */
export type ChatOverview = {
  readonly jid: string;
  readonly name: string | null;
  readonly group: Group | null;
};

export type TaskOverview = Task & {
  /** The name of its folder's chat; null when none is registered. */
  readonly chatName: string | null;
  readonly lastRun: TaskRun | null;
};

const MAX_KNOWN = 200;
const Migrated = z.object({ count: z.int() });

/** Queries about chats and tasks for other programs than the assistant. */
export interface ReadOnlyQueries {
  chats(): readonly ChatOverview[];
  tasks(): readonly TaskOverview[];
}

/**
 * Looks into the assistant's database, whether it runs or not, and writes nothing. A database that is
 * not there, or has never been filled, is one in which nothing is known.
 */
export function withReadOnlyQueries<T>(path: string, read: (queries: ReadOnlyQueries) => T): T {
  if (!existsSync(path)) return read(NOTHING);
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    database.pragma('busy_timeout = 2000');
    return read(isFilled(database) ? createReadOnlyQueries(database) : NOTHING);
  } finally {
    database.close();
  }
}

const NOTHING: ReadOnlyQueries = { chats: () => [], tasks: () => [] };

function isFilled(database: Database.Database): boolean {
  const tables = database.prepare(
    "SELECT count(*) AS count FROM sqlite_schema WHERE name IN ('groups', 'tasks', 'task_runs')",
  );
  return Migrated.parse(tables.get()).count === 3;
}

function createReadOnlyQueries(database: Database.Database): ReadOnlyQueries {
  return {
    chats: () => [
      ...openGroups(database)
        .all()
        .map((group) => ({ jid: group.jid, name: group.name, group })),
      ...openChats(database)
        .unregistered(MAX_KNOWN)
        .map(({ jid, name }) => ({ jid, name, group: null })),
    ],
    tasks() {
      const [groups, runs] = [openGroups(database), openTaskRuns(database)];
      return openTasks(database)
        .open()
        .map((task) => ({
          ...task,
          chatName: groups.byFolder(task.folder)?.name ?? null,
          lastRun: runs.last(task.id, 1)[0] ?? null,
        }));
    },
  };
}
