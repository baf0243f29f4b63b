import type { Database } from 'better-sqlite3';
import type { Places } from '../lib/machines.ts';
import { type Asks, openAsks } from './asks.ts';
import { type Budgets, openStoredBudgets } from './budgets.ts';
import { openPlaces } from './chats/chat-places.ts';
import { type Chats, openChats } from './chats/chats.ts';
import {
  type ModelChoices,
  openModelChoices,
  openToolSwitches,
  type ToolSwitches,
} from './chats/folder-choices.ts';
import {
  createGroupRemover,
  type Folders,
  type Groups,
  openFolders,
  openGroups,
} from './chats/groups.ts';
import { type MemoryVersions, openMemoryVersions } from './chats/memory-versions.ts';
import { createChatMerger, type MergeChats } from './chats/merge-chats.ts';
import { openSenders, type Senders } from './chats/senders.ts';
import { openSessions, type Sessions } from './chats/sessions.ts';
import { openDatabase } from './database.ts';
import { type Drafts, openDrafts } from './drafts.ts';
import { type Engines, openEngines } from './engines.ts';
import type { StoreError } from './error.ts';
import { type KeyTroubles, openKeyTroubles } from './key-troubles.ts';
import { type FollowUps, openStoredFollowUps } from './messages/follow-ups.ts';
import { type HeldMessages, openHeldMessages } from './messages/held-messages.ts';
import { type History, openHistory } from './messages/history.ts';
import {
  type Attachments,
  type Messages,
  openAttachments,
  openMessages,
} from './messages/messages.ts';
import { openSaid, type SaidTexts } from './messages/said-texts.ts';
import { openSearch, type Search } from './messages/search.ts';
import { createThroughIndex, isIndexDamage } from './messages/search-index.ts';
import {
  type DroppedMessages,
  type LateMessages,
  openDroppedMessages,
  openLateMessages,
  openStrangers,
  type Strangers,
} from './messages/unheard-messages.ts';
import { type Meta, openMeta } from './meta.ts';
import { discoverMigrations } from './migrations.ts';
import { type Outbox, openOutbox } from './outbox.ts';
import { openReactions, type Reactions } from './reactions.ts';
import { openServiceStates, type ServiceStates } from './service-states.ts';
import { createFinisher, type TurnEnd } from './turns/finish.ts';
import { type OutsideMarks, openOutsideMarks } from './turns/outside-marks.ts';
import { openTaskRuns, type TaskRuns } from './turns/task-runs.ts';
import { openTasks, type Tasks } from './turns/tasks.ts';
import { openTurnCalls, type TurnCalls } from './turns/turn-calls.ts';
import { openTurnRuns, type TurnRuns } from './turns/turn-runs.ts';
import { MESSAGES_SHOWN, openStoredTurns, type Turns } from './turns/turns.ts';
import { openUsage, type UsageTable } from './usage.ts';

export type { NewAsk, StoredAsk } from './asks.ts';
export type { Limits } from './budgets.ts';
export type { Chat } from './chats/chats.ts';
export type { Group } from './chats/groups.ts';
export type { MemoryAuthor, MemoryVersion } from './chats/memory-versions.ts';
export type { NextSession } from './chats/sessions.ts';
export type { HeldMessage } from './messages/held-messages.ts';
export type { HistoryEntry } from './messages/history.ts';
export type { StoredMessage } from './messages/messages.ts';
export type { LateCount } from './messages/unheard-messages.ts';
export type { KeptChoices, KeptFile, NewOutbound, Outbound } from './outbox-message.ts';
export type { KeptReaction } from './reactions.ts';
export type { TurnEnd } from './turns/finish.ts';
export type { OpenStep } from './turns/open-steps.ts';
export type { OutsideMark } from './turns/outside-marks.ts';
export type { Task, TaskSchedule } from './turns/task.ts';
export type { RunEnd, RunOutcome, TaskRun } from './turns/task-runs.ts';
export { runsBeside, type Turn } from './turns/turn.ts';
export type { TurnCall } from './turns/turn-calls.ts';
export type { TurnRun } from './turns/turn-runs.ts';
export type { NewTurnRun, TurnStep } from './turns/turn-step.ts';
export { MESSAGES_SHOWN, REJECTED } from './turns/turns.ts';
export type { Spending } from './usage.ts';

/** The outcome of one piece of work: its result, or the error that undid this work alone. */
export type Result<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Everything the assistant remembers. Synchronous: when a call returns, it is on disk. */
export interface Store {
  readonly asks: Asks;
  readonly attachments: Attachments;
  readonly budgets: Budgets;
  readonly chats: Chats;
  readonly drafts: Drafts;
  readonly droppedMessages: DroppedMessages;
  readonly engines: Engines;
  readonly folders: Folders;
  readonly followUps: FollowUps;
  readonly groups: Groups;
  readonly heldMessages: HeldMessages;
  readonly history: History;
  readonly lateMessages: LateMessages;
  readonly memoryVersions: MemoryVersions;
  readonly messages: Messages;
  /** The number of a turn's newest messages that its agent sees. */
  readonly messagesShown: number;
  readonly keyTroubles: KeyTroubles;
  readonly modelChoices: ModelChoices;
  readonly places: Places;
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly said: SaidTexts;
  readonly reactions: Reactions;
  readonly search: Search;
  readonly senders: Senders;
  readonly services: ServiceStates;
  readonly sessions: Sessions;
  readonly strangers: Strangers;
  readonly tasks: Tasks;
  readonly taskRuns: TaskRuns;
  readonly toolSwitches: ToolSwitches;
  readonly turnCalls: TurnCalls;
  readonly outsideMarks: OutsideMarks;
  readonly turnRuns: TurnRuns;
  readonly meta: Meta;
  readonly usage: UsageTable;
  /** Ends a turn with all it brings about, or returns false when its lease was lost. */
  finishTurn(end: TurnEnd, now: number): boolean;
  /** Makes two chats one that are the same; everything of both goes on under `to`. */
  readonly mergeChats: MergeChats;
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
  /** The number of a turn's newest messages that its agent sees; 50 by default. */
  readonly messagesShown?: number;
  /** Told when a statement finds the file damaged: nothing more should be written to it. */
  readonly onDamage?: (error: StoreError) => void;
  /** Called before the schema of a database that is not new changes. */
  readonly beforeMigration?: () => void;
};

const OWN_MIGRATIONS = `${import.meta.dirname}/migrations`;

/** Opens the database at `path`, making it and bringing its schema up to date where needed. */
export function openStore(options: StoreOptions): Store {
  const { path, migrationsDir, now, messagesShown = MESSAGES_SHOWN } = options;
  const migrations = discoverMigrations(migrationsDir ?? OWN_MIGRATIONS);
  const database = openDatabase(path, migrations, now, options);
  const asks = openAsks(database);
  const chats = openChats(database);
  const folders = openFolders(database);
  const groups = openGroups(database);
  const memoryVersions = openMemoryVersions(database);
  const messages = openMessages(database);
  const meta = openMeta(database);
  const outbox = openOutbox(database);
  const sessions = openSessions(database);
  const taskRuns = openTaskRuns(database);
  const finish = createFinisher(database, { asks, outbox, sessions, taskRuns });
  const mergeChats = createChatMerger(database, { chats, groups });
  const removeGroup = createGroupRemover(database, {
    chats,
    folders,
    groups,
    memoryVersions,
    messages,
    meta,
  });
  const batch = createBatch(database);
  const throughIndex = createThroughIndex(database);
  return {
    asks,
    attachments: openAttachments(database),
    budgets: openStoredBudgets(database),
    chats,
    drafts: openDrafts(database),
    droppedMessages: openDroppedMessages(database),
    engines: openEngines(meta),
    folders,
    followUps: openStoredFollowUps(database),
    groups,
    heldMessages: openHeldMessages(database),
    history: openHistory(database),
    lateMessages: openLateMessages(database),
    memoryVersions,
    messages,
    messagesShown,
    keyTroubles: openKeyTroubles(meta),
    modelChoices: openModelChoices(meta),
    places: openPlaces(meta, () => now),
    toolSwitches: openToolSwitches(meta),
    turns: openStoredTurns(database, messagesShown),
    outbox,
    said: openSaid(database),
    reactions: openReactions(database),
    search: openSearch(database),
    senders: openSenders(database),
    services: openServiceStates(meta),
    sessions,
    strangers: openStrangers(database),
    tasks: openTasks(database),
    taskRuns,
    turnCalls: openTurnCalls(database),
    outsideMarks: openOutsideMarks(database),
    turnRuns: openTurnRuns(database),
    meta,
    usage: openUsage(database),
    finishTurn: (end, at) => throughIndex(() => finish(end, at)),
    mergeChats: (...pair) => throughIndex(() => mergeChats(...pair)),
    removeGroup: (jid) => throughIndex(() => removeGroup(jid)),
    transaction: (work) => throughIndex(() => database.transaction(work)()),
    batch: (works) => throughIndex(() => batch(works)),
    close: () => void database.close(),
  };
}

/**
 * Runs pieces of work in order and writes them to disk together: one commit, and so one wait for the
 * disk, for all of them. What one throws undoes that one alone.
 *
 * @throws what makes the whole transaction fail, such as a full disk; nothing is written then
 */
export function createBatch(
  database: Database,
): <T>(works: readonly (() => T)[]) => readonly Result<T>[] {
  return (works) => database.transaction(() => works.map((work) => attempt(database, work)))();
}

function attempt<T>(database: Database, work: () => T): Result<T> {
  try {
    // Inside a transaction, this is a savepoint.
    return { kind: 'done', value: database.transaction(work)() };
  } catch (error) {
    // SQLite itself has taken everything back: what came before is lost too, and must not pass for stored.
    if (!database.inTransaction) throw error;
    // Perhaps what came before has done it, and is not stored either.
    if (isIndexDamage(error)) throw error;
    return { kind: 'failed', error };
  }
}
