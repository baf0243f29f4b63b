import { type Chats, chatsOf } from './chats.ts';
import { openDatabase } from './database.ts';
import { finisherOf, type TurnEnd } from './finish.ts';
import { type Groups, groupsOf } from './groups.ts';
import { type Messages, messagesOf } from './messages.ts';
import { type Meta, metaOf } from './meta.ts';
import { discoverMigrations } from './migrations.ts';
import { type Outbox, outboxOf } from './outbox.ts';
import { type Questions, questionsOf } from './questions.ts';
import { type Sessions, sessionsOf } from './sessions.ts';
import { type Turns, turnsOf } from './turns.ts';

export type { TurnEnd } from './finish.ts';
export type { Group } from './groups.ts';
export type { StoredMessage } from './messages.ts';
export type { Outbound } from './outbox.ts';
export type { Turn } from './turn.ts';

/** Everything the assistant remembers. Synchronous: when a call returns, it is on disk. */
export interface Store {
  readonly chats: Chats;
  readonly groups: Groups;
  readonly messages: Messages;
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly sessions: Sessions;
  readonly questions: Questions;
  readonly meta: Meta;
  /** Ends a turn with all it brings about, or returns false when its lease was lost. */
  finishTurn(end: TurnEnd, now: number): boolean;
  /** Runs `work` in one transaction, which an exception undoes. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export type StoreOptions = {
  readonly path: string;
  /** The folder that holds `<owner>/<n>.sql`; the tree's own by default. */
  readonly migrationsDir?: string;
  readonly now: number;
};

const OWN_MIGRATIONS = `${import.meta.dirname}/migrations`;

/** Opens the database at `path`, making it and bringing its schema up to date where needed. */
export function openStore({ path, migrationsDir, now }: StoreOptions): Store {
  const database = openDatabase(path, discoverMigrations(migrationsDir ?? OWN_MIGRATIONS), now);
  const outbox = outboxOf(database);
  const sessions = sessionsOf(database);
  const questions = questionsOf(database);
  return {
    chats: chatsOf(database),
    groups: groupsOf(database),
    messages: messagesOf(database),
    turns: turnsOf(database),
    outbox,
    sessions,
    questions,
    meta: metaOf(database),
    finishTurn: finisherOf(database, { outbox, sessions, questions }),
    transaction: (work) => database.transaction(work)(),
    close: () => void database.close(),
  };
}
