import { type Asks, openAsks } from './asks.ts';
import { type Attachments, openAttachments } from './attachments.ts';
import { createBatch, type Result } from './batch.ts';
import { type Budgets, openStoredBudgets } from './budgets.ts';
import { type Chats, openChats } from './chats.ts';
import { openDatabase } from './database.ts';
import { type DroppedMessages, openDroppedMessages } from './dropped-messages.ts';
import { type Engines, openEngines } from './engines.ts';
import { createFinisher, type TurnEnd } from './finish.ts';
import { type Folders, openFolders } from './folders.ts';
import { type FollowUps, openStoredFollowUps } from './follow-ups.ts';
import { type Groups, openGroups } from './groups.ts';
import { type HeldMessages, openHeldMessages } from './held-messages.ts';
import { type LateMessages, openLateMessages } from './late-messages.ts';
import { createChatMerger, type MergedChats } from './merge-chats.ts';
import { type Messages, openMessages } from './messages.ts';
import { type Meta, openMeta } from './meta.ts';
import { discoverMigrations } from './migrations.ts';
import { type Outbox, openOutbox } from './outbox.ts';
import { createGroupRemover } from './remove-group.ts';
import { openSearch, type Search } from './search.ts';
import { createThroughIndex } from './search-index.ts';
import { openSenders, type Senders } from './senders.ts';
import { openServiceStates, type ServiceStates } from './services.ts';
import { openSessions, type Sessions } from './sessions.ts';
import { openStrangers, type Strangers } from './strangers.ts';
import { openTaskRuns, type TaskRuns } from './task-runs.ts';
import { openTasks, type Tasks } from './tasks.ts';
import { openStoredTurns, type Turns } from './turns.ts';
import { openUsage, type UsageTable } from './usage.ts';

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
  const asks = openAsks(database);
  const chats = openChats(database);
  const folders = openFolders(database);
  const groups = openGroups(database);
  const messages = openMessages(database);
  const meta = openMeta(database);
  const outbox = openOutbox(database);
  const sessions = openSessions(database);
  const taskRuns = openTaskRuns(database);
  const finish = createFinisher(database, { asks, outbox, sessions, taskRuns });
  const mergeChats = createChatMerger(database, { chats, groups });
  const removeGroup = createGroupRemover(database, { chats, folders, groups, messages });
  const batch = createBatch(database);
  const throughIndex = createThroughIndex(database);
  return {
    asks,
    attachments: openAttachments(database),
    budgets: openStoredBudgets(database),
    chats,
    droppedMessages: openDroppedMessages(database),
    engines: openEngines(meta),
    folders,
    followUps: openStoredFollowUps(database),
    groups,
    heldMessages: openHeldMessages(database),
    lateMessages: openLateMessages(database),
    messages,
    turns: openStoredTurns(database),
    outbox,
    search: openSearch(database),
    senders: openSenders(database),
    services: openServiceStates(meta),
    sessions,
    strangers: openStrangers(database),
    tasks: openTasks(database),
    taskRuns,
    meta,
    usage: openUsage(database),
    finishTurn: (end, at) => throughIndex(() => finish(end, at)),
    mergeChats: (from, to) => throughIndex(() => mergeChats(from, to)),
    removeGroup: (jid) => throughIndex(() => removeGroup(jid)),
    transaction: (work) => throughIndex(() => database.transaction(work)()),
    batch: (works) => throughIndex(() => batch(works)),
    close: () => void database.close(),
  };
}
