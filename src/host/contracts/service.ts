import type { z } from 'zod';
import type { Frame } from '../../channels/channel.ts';
import type { Devices, Route } from '../../http/route.ts';
import { type Contribution, contributionOf, contributionSchema } from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { EmbedForGroup } from '../../lib/embed.ts';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { StartProgram } from '../../lib/program.ts';
import type { HostTool, HostToolCall, HostToolResult } from '../../sandbox/sandbox.ts';
import type { KeptReaction, RunOutcome, Store } from '../../store/store.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { ChannelReport } from '../channel-board.ts';
import type { MemoryBook } from '../groups/memory-book.ts';
import type { ChatModels } from '../models/chat-models.ts';
import type { SetTimer } from '../scheduler/alarm.ts';
import type { DueTasks } from '../scheduler/due-tasks.ts';
import type { AskQuestion, AskReply } from './ask.ts';
import type { ReadClaw } from './claw.ts';
import type { NewestRelease } from './git.ts';
import type { Watch } from './live-event.ts';
import type { HostLog } from './log.ts';
import type { OwnerActs } from './owner-acts.ts';
import type { ServiceCaller } from './service-call.ts';
import type { Brings, Tool } from './tool.ts';

/** The part of the store that a service reads. Nothing of it writes. */
export type ServiceStore = {
  readonly groups: Pick<Store['groups'], 'all' | 'byFolder' | 'byJid' | 'main'>;
  readonly history: Pick<Store['history'], 'page' | 'whole'>;
  /** Knows who may call the assistant in a chat. */
  readonly senders: Pick<Store['senders'], 'ofGroup'>;
  readonly toolSwitches: Pick<Store['toolSwitches'], 'offIn'>;
  readonly messages: Pick<Store['messages'], 'between' | 'countBetween' | 'sendersOf'>;
  readonly said: Store['said'];
  readonly reactions: Pick<Store['reactions'], 'since'>;
  readonly search: Pick<Store['search'], 'find'>;
  readonly tasks: Pick<Store['tasks'], 'byId' | 'open'>;
  readonly taskRuns: Pick<Store['taskRuns'], 'costs' | 'last'>;
  /** The record of what agents' turns did and cost. */
  readonly turnRuns: Pick<Store['turnRuns'], 'newest' | 'ofTurn' | 'stepsOf'>;
  readonly turns: Pick<Store['turns'], 'counts' | 'failed' | 'isOpen'>;
  readonly usage: Pick<Store['usage'], 'byFolder' | 'byModel' | 'of' | 'total'>;
};

/** A turn that a service asks for: it is kept and run like that of a task, and shown with the tasks. */
export type QueuedTurn = {
  /**
   * An id that the service has made by `newId` and kept before: asked for again, also after a crash, it is the same
   * turn, and nothing is queued.
   */
  readonly id?: string;
  /** The folder of the group whose agent works on it. */
  readonly folder: string;
  /** The prompt of the turn. */
  readonly prompt: string;
  /** The conversation that it sees: the group's, or one of its own, which is the default. */
  readonly context?: 'group' | 'isolated';
  /**
   * `own` if the prompt contains nothing that others wrote. By default it counts as text from outside: the turn asks
   * before it acts on other chats.
   */
  readonly brings?: Brings;
  /** The kind of its work, for whoever chooses the model or writes the prompt; the service's name by default. */
  readonly taskType?: string;
  /** The pool of models that it asks for by name, for a router that has pools. */
  readonly pool?: string;
  /** The chat of that folder that gets its text; by default the one that was last written in. */
  readonly jid?: string;
  /**
   * Runs it beside the turns of the chat, in a container of its own on the same folders: neither waits for the
   * other, and `/stop` does not end it. As many run at once as other agents may.
   */
  readonly isBeside?: boolean;
  /** The whole system prompt, in place of the sections; the prompt is then given as it is. */
  readonly system?: string;
  /** Tools of the host's and of the agent's own, by their names: only these, or all without these. */
  readonly tools?: ToolChoice;
};

/** Names of the tools that a turn has, and of those that it has not; all by default. */
export type ToolChoice = {
  readonly only?: readonly string[] | undefined;
  readonly without?: readonly string[] | undefined;
};

/** A message that a service puts into a chat as it is, without an agent. */
export type QueuedMessage = {
  /** As of a turn: asked for again, it is the same message. */
  readonly id: string;
  /** The folder of the group. */
  readonly folder: string;
  /** In Markdown. */
  readonly text: string;
  /** The chat of that folder; by default the one that was last written in. */
  readonly jid?: string;
};

/** The host's tools, for a service that lets others call them. Rights and guards are those of the group's agent. */
export type ServiceTools = {
  /** Describes the tools that the agent of a folder would be offered; none for a folder without a group. */
  offered(folder: string): readonly HostTool[];
  /** Calls a tool in the name of that group, outside of any turn. A refusal is a result. Never rejects. */
  call(call: HostToolCall, signal: AbortSignal): Promise<HostToolResult>;
};

/** Questions and calls of host tools that come from services, outside of any turn. */
export interface ServiceCalls extends ServiceTools {
  /** Asks the owner. At the abort the question is withdrawn. */
  ask(question: AskQuestion, signal: AbortSignal): Promise<AskReply>;
}

/** A turn of a service's that has ended, before anything of it reaches the chat. */
export type EndedTurn = {
  /** As `queueTurn` returned it. */
  readonly id: string;
  readonly folder: string;
  /** `silent` is a turn without an answer, `skipped` one that did not begin, such as for its budget. */
  readonly outcome: RunOutcome;
  /** The code of a failure, such as `CANCELLED` if the owner stopped it; null if it was answered. */
  readonly error: string | null;
  /** The answer, or the reason for a failure in words for the chat; may be empty. */
  readonly text: string;
};

/**
 * Decides what the chat gets of a turn: its text, another text, or nothing. The log of turns records the end. A
 * silent turn does not count as part of the chat's conversation, which silence ends.
 */
export type Delivery =
  | { readonly kind: 'send'; readonly text?: string }
  | { readonly kind: 'silent' };

/** Services of the host for a service, from its start to its stop. */
export type ServiceContext = {
  readonly assistantName: string;
  /** Absolute path of the folder for what a service keeps. */
  readonly dataDir: string;
  /**
   * Absolute path of the folder that holds the folder of each group, for their names. Agents write there and
   * may put links: a file is read by `readGroupFile`.
   */
  readonly groupsDir: string;
  readonly timeZone: string;
  readonly log: HostLog;
  readonly now: () => number;
  readonly newId: () => string;
  /** Calls back once after a delay, unless the service was stopped. If the callback throws, that is a crash. */
  readonly setTimer: SetTimer;
  /** Aborted when the service is stopped, also after a crash. */
  readonly signal: AbortSignal;
  readonly store: ServiceStore;
  /** Queues a turn and returns its id. Throws if no group has that folder. */
  readonly queueTurn: (turn: QueuedTurn) => string;
  /** Queues a message for a chat. Throws if no group has that folder. */
  readonly queueMessage: (message: QueuedMessage) => void;
  /** Ends a turn that this service has queued, or prevents it from beginning. Returns false if it is over. */
  readonly stopTurn: (id: string) => boolean;
  /**
   * Registers an address below the service's name on the HTTP server of this machine, and resolves with it.
   * It is gone with the end of the service.
   */
  readonly route: (route: Route) => Promise<{ readonly url: string }>;
  /** The browsers that were let in, and the links that let them in. */
  readonly devices: Devices;
  readonly openDatabase: OpenDatabase;
  /** Turns texts into vectors, by the embedding model of any provider. */
  readonly embed: EmbedForGroup;
  readonly dueTasks: DueTasks;
  /** Asks the engine about the code: plans, owners of lines, conflicts. Nothing is changed. */
  readonly readClaw: ReadClaw;
  /**
   * Asks the project's git remote for its newest release, and fetches that one tag if it is newer than the core here.
   * Then `readClaw(['plan', 'update', ref])` shows what it would change.
   */
  readonly newestRelease: () => Promise<NewestRelease>;
  /** The model of each chat, and those that servers list. The owner's `/model` chooses one. */
  readonly models: Pick<ChatModels, 'lists' | 'of'>;
  /** Says why the model of the settings cannot answer; null if it can. */
  readonly modelProblem: () => string | null;
  /**
   * Asks the owner, in the chat where they wrote last. The question is withdrawn at the signal, and when the
   * service ends.
   */
  readonly ask: (question: AskQuestion, signal?: AbortSignal) => Promise<AskReply>;
  readonly tools: ServiceTools;
  readonly owner: OwnerActs;
  /** Calls back with what happens in the assistant, as it happens. */
  readonly watch: Watch;
  /** The channels of this tree as they are now; `watch` tells when one has another state. */
  readonly channels: () => readonly ChannelReport[];
  /**
   * Sends a frame to the program at the far end of a chat, once. Rejects, in words, if the channel carries no frames
   * or is not connected.
   */
  readonly sendFrame: (jid: string, body: Frame['body']) => Promise<void>;
  /** Starts a program in a container of its own. It is stopped with the service, if it still runs then. */
  readonly startProgram: StartProgram;
  /**
   * Reads a text file below a group's folder, such as `['CLAUDE.md']`, without following links. Null if it does not
   * exist, or is not a plain file of at most a megabyte.
   */
  readonly readGroupFile: (folder: string, path: readonly string[]) => Promise<string | null>;
  /**
   * What is written down about a chat, with its versions. The owner's `/memory` writes it, so a page says that command
   * by `owner.say`.
   */
  readonly memory: Pick<MemoryBook, 'read' | 'last' | 'version'>;
  /** Today's spending of each chat, and its limits. */
  readonly budgets: Pick<Budgets, 'report'>;
  /** Tells that the service does not work any more: it is stopped, and started again after a pause. */
  readonly crash: (error: unknown) => void;
};

/** A service that runs. */
export type RunningService = {
  /** Ends it. The signal is aborted before. */
  stop(): void | Promise<void>;
  /** Returns one line for the owner on what it is doing; null if there is nothing to say. */
  status(): string | null;
  /**
   * Decides what the chat gets of a turn that this service has queued, possibly in an earlier process. It is called
   * again for the same turn if the process ends before the decision is stored. Without it, if it throws, or while the
   * service does not run, the chat gets the turn's text.
   */
  onTurnEnd?(turn: EndedTurn): Delivery;
  /**
   * Returns tools that agents are offered while it runs, such as those of another server. It is called at the
   * beginning of each turn, and must answer at once from what it knows. A tool whose name is taken is left out.
   */
  tools?(): readonly Tool[];
  /**
   * Resolves once the tools for the agent of a folder are known, or at the abort, with a sentence on missing ones,
   * for the agent and once for the chat. A turn waits for it before it begins, up to a limit, and also for the start
   * of the service.
   */
  toolsReady?(folder: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Answers a tool, an owner's command, a section of the prompt or a model router that calls the service by its name
   * (`callService`). The caller handles an error. Check the request: another file made it.
   */
  onCall?(request: unknown, caller: ServiceCaller): unknown;
  /**
   * A person put an emoji on a message of the assistant that is not a question, or removed it: feedback on the answer
   * of that turn. Emojis from a time when the service did not run are in `store.reactions`.
   */
  onReaction?(reaction: KeptReaction): void;
  /** A frame has come: true takes it. Of several services the first that takes it has it. */
  onFrame?(frame: Frame): boolean;
  /** A channel has connected or disconnected. Changes from before the service ran are reported at its start. */
  onLink?(channel: string, isConnected: boolean): void;
};

/** Starts a service. A rejection, or 30 seconds without an end, is a failed start. */
export type StartService = (context: ServiceContext) => RunningService | Promise<RunningService>;

/** The export `service` of a file in `src/services/`. Its `create` returns null if nothing is set for it. */
export type ServiceContribution = Contribution<object, StartService | null>;

/** Defines something that works in the background while the assistant runs. */
export function defineService<S extends z.ZodRawShape>(definition: {
  readonly name: string;
  readonly settings?: z.ZodObject<S>;
  /** The settings without which it stays off. */
  readonly needs?: readonly (keyof S & string)[];
  start(
    context: ServiceContext & { readonly settings: z.output<z.ZodObject<S>> },
  ): RunningService | Promise<RunningService>;
}): ServiceContribution {
  const { name, settings: schema, needs = [], start } = definition;
  return contributionOf<S, object, StartService | null>({
    name,
    ...(schema === undefined ? {} : { settings: schema }),
    needs,
    create: ({ settings }) =>
      needs.some((setting) => settings[setting as keyof typeof settings] === undefined)
        ? null
        : (context) => start({ ...context, settings }),
  });
}

const Definition = contributionSchema<ServiceContribution>('defineService({ name, start })');

/** Returns the services of this tree: of the files in `src/services/` that export a `service`. */
export function discoverServices(
  folder = `${import.meta.dirname}/../../services`,
): Promise<readonly ServiceContribution[]> {
  return discoverExports(folder, 'service', Definition);
}
