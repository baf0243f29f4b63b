import { type Asks, asksOf } from './asks.ts';
import { type Attachments, attachmentsOf } from './attachments.ts';
import { batchOf, type Result } from './batch.ts';
import { type Budgets, budgetsOf } from './budgets.ts';
import { type Chats, chatsOf } from './chats.ts';
import { openDatabase } from './database.ts';
import { type DroppedMessages, droppedMessagesOf } from './dropped-messages.ts';
import { type Engines, enginesOf } from './engines.ts';
import { finisherOf, type TurnEnd } from './finish.ts';
import { type Folders, foldersOf } from './folders.ts';
import { type FollowUps, followUpsOf } from './follow-ups.ts';
import { type Groups, groupsOf } from './groups.ts';
import { type HeldMessages, heldMessagesOf } from './held-messages.ts';
import { type LateMessages, lateMessagesOf } from './late-messages.ts';
import { chatMergerOf, type MergedChats } from './merge-chats.ts';
import { type Messages, messagesOf } from './messages.ts';
import { type Meta, metaOf } from './meta.ts';
import { discoverMigrations } from './migrations.ts';
import { type Outbox, outboxOf } from './outbox.ts';
import { groupRemoverOf } from './remove-group.ts';
import { type Search, searchOf } from './search.ts';
import { throughIndexOf } from './search-index.ts';
import { type Senders, sendersOf } from './senders.ts';
import { type ServiceStates, serviceStatesOf } from './services.ts';
import { type Sessions, sessionsOf } from './sessions.ts';
import { type Strangers, strangersOf } from './strangers.ts';
import { type TaskRuns, taskRunsOf } from './task-runs.ts';
import { type Tasks, tasksOf } from './tasks.ts';
import { type Turns, turnsOf } from './turns.ts';
import { type UsageTable, usageOf } from './usage.ts';

export type { NewAsk, StoredAsk } from './asks.ts';
export type { Result } from './batch.ts';
export type { Limits } from './budgets.ts';
export type { Chat } from './chats.ts';
export type { TurnEnd } from './finish.ts';
export type { Group } from './groups.ts';
export type { HeldMessage } from './held-messages.ts';
export type { LateCount } from './late-messages.ts';
export type { StoredMessage } from './messages.ts';
export type { KeptChoices, KeptFile, NewOutbound, Outbound } from './outbox-message.ts';
export type { NextSession } from './sessions.ts';
export type { Task, TaskSchedule } from './task.ts';
export type { RunEnd, TaskRun } from './task-runs.ts';
export type { Turn } from './turn.ts';
export { MESSAGES_SHOWN } from './turns.ts';
export type { Spending } from './usage.ts';

/** Everything the assistant remembers. Synchronous: when a call returns, it is on disk. */
export interface Store {
  readonly asks: Asks;
  readonly attachments: Attachments;
  readonly budgets: Budgets;
  readonly chats: Chats;
  readonly droppedMessages: DroppedMessages;
  readonly engines: Engines;
  readonly folders: Folders;
  readonly followUps: FollowUps;
  readonly groups: Groups;
  readonly heldMessages: HeldMessages;
  readonly lateMessages: LateMessages;
  readonly messages: Messages;
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly search: Search;
  readonly senders: Senders;
  readonly services: ServiceStates;
  readonly sessions: Sessions;
  readonly strangers: Strangers;
  readonly tasks: Tasks;
  readonly taskRuns: TaskRuns;
  readonly meta: Meta;
  readonly usage: UsageTable;
  /** Ends a turn with all it brings about, or returns false when its lease was lost. */
  finishTurn(end: TurnEnd, now: number): boolean;
  /** Makes two chats of one person one; everything of both goes on under `to`. */
  mergeChats(from: string, to: string): MergedChats;
  /** Deletes everything of a group, registered or not, but its chat's name. */
  removeGroup(jid: string): void;
  /** Runs `work` in one transaction, which an exception undoes. */
  transaction<T>(work: () => T): T;
  /** Runs works in one transaction, in order; an exception undoes the work that threw it, and no other. */
  batch<T>(works: readonly (() => T)[]): readonly Result<T>[];
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
  const asks = asksOf(database);
  const chats = chatsOf(database);
  const folders = foldersOf(database);
  const groups = groupsOf(database);
  const messages = messagesOf(database);
  const meta = metaOf(database);
  const outbox = outboxOf(database);
  const sessions = sessionsOf(database);
  const taskRuns = taskRunsOf(database);
  const finish = finisherOf(database, { asks, outbox, sessions, taskRuns });
  const mergeChats = chatMergerOf(database, { chats, groups });
  const removeGroup = groupRemoverOf(database, { chats, folders, groups, messages });
  const batch = batchOf(database);
  const throughIndex = throughIndexOf(database);
  return {
    asks,
    attachments: attachmentsOf(database),
    budgets: budgetsOf(database),
    chats,
    droppedMessages: droppedMessagesOf(database),
    engines: enginesOf(meta),
    folders,
    followUps: followUpsOf(database),
    groups,
    heldMessages: heldMessagesOf(database),
    lateMessages: lateMessagesOf(database),
    messages,
    turns: turnsOf(database),
    outbox,
    search: searchOf(database),
    senders: sendersOf(database),
    services: serviceStatesOf(meta),
    sessions,
    strangers: strangersOf(database),
    tasks: tasksOf(database),
    taskRuns,
    meta,
    usage: usageOf(database),
    finishTurn: (end, at) => throughIndex(() => finish(end, at)),
    mergeChats: (from, to) => throughIndex(() => mergeChats(from, to)),
    removeGroup: (jid) => throughIndex(() => removeGroup(jid)),
    transaction: (work) => throughIndex(() => database.transaction(work)()),
    batch: (works) => throughIndex(() => batch(works)),
    close: () => void database.close(),
  };
}
