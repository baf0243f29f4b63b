import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { openChats } from './chats/chats.ts';
import { type Group, openGroups } from './chats/groups.ts';
import { openSessions } from './chats/sessions.ts';
import { StoreError } from './error.ts';
import { createTranscriptReader, type SaidInChat } from './messages/transcript.ts';
import type { Task } from './turns/task.ts';
import { openTaskRuns, type TaskRun } from './turns/task-runs.ts';
import { openTasks } from './turns/tasks.ts';
import { createTurnRunReader, type TurnRunReader } from './turns/turn-runs.ts';

/** A chat as one who only looks sees it: registered with its group's facts, or known by name. */
export type ChatOverview = {
  readonly jid: string;
  readonly name: string | null;
  /** Null where nothing is known of it. */
  readonly channel: string | null;
  readonly group: Group | null;
};

export type TaskOverview = Task & {
  /** The name of its folder's chat; null when none is registered. */
  readonly chatName: string | null;
  readonly lastRun: TaskRun | null;
};

const MAX_KNOWN = 200;
const Migrated = z.object({ count: z.int() });

/** Queries about chats, tasks and turns for other programs than the assistant. */
export interface ReadOnlyQueries {
  chats(): readonly ChatOverview[];
  tasks(): readonly TaskOverview[];
  readonly turnRuns: TurnRunReader;
  /** Returns the id of the conversation that a folder's next turn goes on with; `since` as in `Sessions`. */
  goingOn(folder: string, since: number): string | null;
  /** Returns all that was said in some chats, oldest first; to be read before the database is closed. */
  saidIn(jids: readonly string[]): Iterable<SaidInChat>;
}

/**
 * Looks into the assistant's database, whether it runs or not, and writes nothing. A database that is
 * not there, or has never been filled, is one in which nothing is known.
 *
 * @throws StoreError where the database is older than this code, and no assistant has brought it up to date
 */
export function withReadOnlyQueries<T>(path: string, read: (queries: ReadOnlyQueries) => T): T {
  if (!existsSync(path)) return read(NOTHING);
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    database.pragma('busy_timeout = 2000');
    return read(isFilled(database) ? createReadOnlyQueries(database) : NOTHING);
  } catch (error) {
    const isOlder =
      error instanceof Database.SqliteError &&
      /no such column|has no column named/.test(error.message);
    if (!isOlder) throw error;
    throw new StoreError(
      'DATABASE_UNUSABLE',
      'The assistant was updated and has not run since: start it once with `npx claw start`, which brings its database up to date.',
    );
  } finally {
    database.close();
  }
}

const NO_RUNS: TurnRunReader = { newest: () => [], ofTurn: () => [], stepsOf: () => [] };
const NOTHING: ReadOnlyQueries = {
  chats: () => [],
  tasks: () => [],
  turnRuns: NO_RUNS,
  goingOn: () => null,
  saidIn: () => [],
};

function isFilled(database: Database.Database): boolean {
  return hasTables(database, ['groups', 'tasks', 'task_runs']);
}

function hasTables(database: Database.Database, names: readonly string[]): boolean {
  const tables = database.prepare(
    'SELECT count(*) AS count FROM sqlite_schema WHERE name IN (SELECT value FROM json_each(?))',
  );
  return Migrated.parse(tables.get(JSON.stringify(names))).count === names.length;
}

function createReadOnlyQueries(database: Database.Database): ReadOnlyQueries {
  return {
    // An assistant that was updated and has not been started since has no such tables.
    turnRuns: hasTables(database, ['turn_runs', 'turn_steps'])
      ? createTurnRunReader(database)
      : NO_RUNS,
    goingOn: (folder, since) => openSessions(database).resumable(folder, since),
    saidIn: createTranscriptReader(database),
    chats() {
      const known = openChats(database);
      return [
        ...openGroups(database)
          .all()
          .map((group) => {
            const channel = known.byJid(group.jid)?.channel ?? null;
            return { jid: group.jid, name: group.name, channel, group };
          }),
        ...known
          .unregistered(MAX_KNOWN)
          .map(({ jid, name, channel }) => ({ jid, name, channel, group: null })),
      ];
    },
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
