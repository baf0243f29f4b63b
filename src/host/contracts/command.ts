import type { z } from 'zod';
import type { ChannelStatus, Pairing } from '../../channels/channel.ts';
import type { Settings } from '../../config.ts';
import {
  type Contribution,
  contributionOf,
  contributionSchema,
  openContributions,
  type SilentContribution,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { KnownMachines } from '../../lib/machines.ts';
import { NO_DATABASES, type OpenDatabase, type OwnDatabases } from '../../lib/own-database.ts';
import type { Environment } from '../../lib/settings.ts';
import { fileOf, noteFile } from '../../lib/tree-fault.ts';
import type { ModelReport } from '../../model/model.ts';
import type { Group, Store, StoredMessage } from '../../store/store.ts';
import type { AddressReader } from '../address-book.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { CostReport } from '../budget/cost-report.ts';
import type { RunningCode } from '../changes/running-code.ts';
import type { PeopleOf } from '../groups/chat-list.ts';
import type { MemoryBook } from '../groups/memory-book.ts';
import type { Registry } from '../groups/registry.ts';
import type { ChatModels } from '../models/chat-models.ts';
import type { TaskBook } from '../scheduler/task-book.ts';
import type { ServiceReport } from '../services/services.ts';
import type { Ask } from './ask.ts';
import type { Claw, ClawProgress } from './claw.ts';
import type { Git } from './git.ts';
import type { Choice, Reply } from './question.ts';
import type { CallService } from './service-call.ts';

/** A tool or the like that stays silent: its kind is a word for the owner. */
export type SilentPart = SilentContribution & {
  readonly kind: string;
  /** The meaning of an empty setting; `off` by default. */
  readonly effect?: string;
};

/** A command that was at work when the owner said stop. */
export type CancelledCommand = {
  /** As it was typed, to be said in a chat. */
  readonly name: string;
  /** False where ending it half way is not safe: it goes on. */
  readonly isCancelled: boolean;
};

/** A sandbox engine as the owner sees it, and how strictly it limits agents. */
export type KnownEngine = { readonly name: string; readonly limits: 'container' | 'process' };

/** A tool as the owner sees it. */
export type KnownTool = {
  readonly name: string;
  readonly runsIn: 'host' | 'container';
  readonly isMainOnly: boolean;
};

/** Services for an owner's command. */
export type CommandContext = {
  readonly store: Store;
  readonly settings: Settings;
  /** Engines that can run agents here, best first. */
  readonly engines: readonly KnownEngine[];
  /** The model of the settings. */
  readonly model: ModelReport;
  /** The models of the chats, and those there are. */
  readonly models: ChatModels;
  readonly projectDir: string;
  readonly version: string;
  readonly runningCode: RunningCode;
  readonly claw: Claw;
  readonly git: Git;
  /** The chat in which it was said. */
  readonly group: Group;
  /** Returns the message of its turn as it is stored, with the channel's notes; null where there is none, as for a task. */
  readonly message: () => StoredMessage | null;
  readonly commands: readonly Command[];
  /** The tools there are for agents, as they are now. */
  readonly tools: () => readonly KnownTool[];
  readonly channels: () => readonly ({
    readonly status: ChannelStatus;
    readonly isOpen: boolean;
    /** The setting that is the channel's own allow-list; null for none. */
    readonly allowSetting: string | null;
    /** The way in which `/pair` links it; null where it does not. */
    readonly pairing: Pairing | null;
  } & AddressReader)[];
  readonly silentChannels?: readonly SilentContribution[];
  readonly silentParts?: readonly SilentPart[];
  readonly services: () => readonly ServiceReport[];
  /** The address of the HTTP server of this machine; null while it is off. */
  readonly pages: () => string | null;
  readonly peopleOf: PeopleOf;
  readonly budgets: Budgets;
  readonly registry: Registry;
  readonly memory: MemoryBook;
  /** One line on what runs the agents, or what to install. */
  readonly sandbox: () => Promise<string>;
  /** The other machines that can run agents; `store.places` says which chats run there. */
  readonly machines: () => Promise<KnownMachines>;
  /** True if this chat is a terminal that draws blocks of the kind `qr`. */
  readonly drawsCodes: boolean;
  /** Tells whether a setting has a value, in `.env` or the environment. */
  readonly isSet: (setting: string) => boolean;
  /** Says what is wrong with the settings as the next start would read them; null when nothing is. */
  readonly settingsProblem: () => string | null;
  /** Progress is said at most this often, in milliseconds. */
  readonly progressMs: number;
  /** Says something in the chat while the command runs. */
  readonly say: (text: string) => void;
  /** Says in the chat how far the command is: shown apart from answers where a channel can. */
  readonly sayProgress: (text: string) => void;
  /** Shows services that watch how a change goes on, with the output of checks and tests. */
  readonly showProgress: (progress: ClawProgress) => void;
  /** Asks the owner in this chat, and waits while the command goes on. */
  readonly ask: Ask;
  readonly callService: CallService;
  /** Keeps what `resume` needs, in case the process ends before the command does. */
  readonly keep: (data: unknown) => void;
  /** Runs the failed turn of a chat again, or with null that of every chat. Returns how many turns that were. */
  readonly retryFailed: (jid: string | null) => number;
  /** Ends what the agent of a folder is doing; how many turns that were. */
  readonly cancelTurns: (folder: string) => number;
  /** Ends the owner's command that is under way, where it may be ended. */
  readonly cancelCommand: () => CancelledCommand | null;
  /** Aborted when the owner has this command stopped; only those that are `isCancellable` are. */
  readonly signal: AbortSignal;
  readonly tasks: TaskBook;
  readonly now: () => number;
  readonly newId: () => string;
};

/**
 * `confirm` gets `data` at the owner's yes, or with the choice they made; anything else said in
 * between withdraws the question.
 */
export type CommandQuestion = {
  readonly kind: 'ask';
  /** Without how to answer it, which is put below: as one of several, where others are open in the chat. */
  readonly text: string;
  readonly data: unknown;
  /** Said at a no to a question without choices, and when the owner talks of something else. */
  readonly declined: string;
  /** Numbered ways to answer; without them it is yes or no. */
  readonly choices?: readonly Choice[];
  /** True if a choice may be made with `all`, for later questions as well. */
  readonly mayBeForAll?: boolean;
  /** The command whose `confirm` gets the answer; the one that asks by default. */
  readonly command?: string;
};

export type CommandResult =
  | {
      readonly kind: 'answer';
      readonly text: string;
      /** The chat's next turns answer the command, which is over when they are. */
      readonly isAnsweredLater?: boolean;
    }
  | CommandQuestion
  /** The assistant restarts, and the new process answers by `resume` with `data`. */
  | { readonly kind: 'restart'; readonly data: unknown };

/** The start of the process that resumes a command. */
export type Resumption = {
  /** Why the supervisor took the new tree back; null when it did not. */
  readonly rolledBack: string | null;
};

/** In which registered chats a command works: the owner's own, the others, or all. */
type Chats = 'main' | 'groups' | 'all';

/** The groups of `/help`, in its order, with their titles. */
export const TOPICS = {
  conversation: 'This conversation',
  chats: 'Chats',
  work: 'Tasks and costs',
  code: 'Your code',
  assistant: 'The assistant',
} as const;

export type Topic = keyof typeof TOPICS;

/** The context of completing a command that is being typed. It only reads. */
export type CompletionContext = Pick<
  CommandContext,
  'store' | 'projectDir' | 'commands' | 'engines' | 'tools'
>;

/** A command that only the owner gives. */
export type OwnerCommand<Context = CommandContext> = {
  readonly scope: 'owner';
  /** As typed, without the slash; `<…>` is the argument: `add-<skill>`. */
  readonly name: string;
  readonly help: string;
  /** Its group in `/help`; without one it is listed as a skill's. */
  readonly topic?: Topic;
  /** The owner's own chats by default. */
  readonly chats?: Chats;
  run(context: Context, argument: string): Promise<CommandResult>;
  confirm?(context: Context, data: unknown, reply: Reply): Promise<CommandResult>;
  /** A text is the answer. */
  resume?(context: Context, data: unknown, resumption: Resumption): Promise<string | CommandResult>;
  /**
   * Returns the question that `run` would ask, without beginning anything, so that the owner is asked only once about
   * an agent's proposal. Null if only `run` can tell; then the owner is asked first whether it may run.
   */
  propose?(context: Context, argument: string): Promise<CommandQuestion | null>;
  /** Returns the text for the main group's agent when it calls this command; changes nothing. */
  look?(context: Context, argument: string): Promise<string>;
  /** True if that agent may propose it: then it runs at the owner's yes. */
  readonly isForAgents?: boolean;
  /**
   * It looks, or writes a word to the database: it runs beside a longer command instead of after it,
   * leaves an open question open, and asks none.
   */
  readonly isQuick?: boolean;
  /**
   * Returns arguments for Tab in a terminal, each whole; one that ends with a blank has more after it. Those that do
   * not begin as typed are left out by the caller. For `add-<skill>`: the names that take the place of `<skill>`.
   *
   * @param typed the argument so far, for a command whose later words depend on those before
   */
  complete?(context: CompletionContext, typed: string): readonly string[];
  /** True if it takes no arguments. If the owner gives some, they are told, and it does not run. */
  readonly takesNothing?: boolean;
  /** True if `/stop` may end it at any time, by the context's `signal`. */
  readonly isCancellable?: boolean;
};

/** Services for a members' command: only in the chat in which it was said. */
export type MembersContext = {
  readonly assistantName: string;
  readonly group: { readonly name: string; readonly folder: string; readonly isMain: boolean };
  readonly sender: {
    /** The channel's own id of them. */
    readonly id: string;
    readonly name: string | null;
    readonly isOwner: boolean;
  };
  readonly timeZone: string;
  readonly now: () => number;
  readonly newId: () => string;
  /** Says something in this chat while the command runs. */
  readonly say: (text: string) => void;
  /** Asks the sender in this chat, and waits while the command goes on. */
  readonly ask: Ask;
  /** Returns what this chat has cost; in the owner's own chats, what all have. */
  readonly costs: () => CostReport;
  /** Lets the next message of this chat begin a new conversation. */
  readonly beginConversation: () => void;
  /** Ends what the agent is doing in this chat; how many turns that were. */
  readonly stopAgent: () => number;
};

/** A command for all members who are heard in a registered chat. */
export type MembersCommand<Context = MembersContext> = {
  readonly scope: 'members';
  /** As typed, without the slash. */
  readonly name: string;
  readonly help: string;
  /** Its group in `/help`; without one it is listed as a skill's. */
  readonly topic?: Topic;
  /** All registered chats by default. */
  readonly chats?: Chats;
  /** Returns the answer. What it throws is told as its failure. */
  run(context: Context, argument: string): Promise<string>;
};

export type Command = OwnerCommand | MembersCommand;

/** The export `command` of a file in `src/commands/`. */
export type CommandContribution = Contribution<Creation, Command | null>;

type Creation = { readonly openDatabase: OpenDatabase };

/** A context, what the command's own settings say, and its own database. */
type Own<S extends z.ZodRawShape> = {
  readonly own: z.output<z.ZodObject<S>>;
  readonly openDatabase: OpenDatabase;
};

type WithOwn<Context, S extends z.ZodRawShape> = Context & Own<S>;

type Definition<Command, S extends z.ZodRawShape> = Command & {
  /** Its own settings, which every call finds in `own`. */
  readonly settings?: z.ZodObject<S>;
  /** The settings that the command needs to exist. */
  readonly needs?: readonly (keyof S & string)[];
};

/** Defines a command. The one with the scope `members` holds nothing of the code, the engine or other chats. */
export function defineCommand<S extends z.ZodRawShape>(
  definition:
    | Definition<OwnerCommand<WithOwn<CommandContext, S>>, S>
    | Definition<MembersCommand<WithOwn<MembersContext, S>>, S>,
): CommandContribution {
  const { settings, needs = [], ...command } = definition;
  return contributionOf<S, Creation, Command | null>({
    name: command.name,
    ...(settings === undefined ? {} : { settings }),
    needs,
    create: ({ settings: own, openDatabase }) =>
      needs.some((name) => own[name as keyof typeof own] === undefined)
        ? null
        : withOwn(command, { own, openDatabase }),
  });
}

/** Hands its own settings and its database to each of a command's functions. */
function withOwn<S extends z.ZodRawShape>(
  command: OwnerCommand<WithOwn<CommandContext, S>> | MembersCommand<WithOwn<MembersContext, S>>,
  given: Own<S>,
): Command {
  if (command.scope === 'members') {
    return {
      ...command,
      run: (context: MembersContext, argument: string) =>
        command.run({ ...context, ...given }, argument),
    };
  }
  const { run, confirm, resume, propose, look, ...said } = command;
  return {
    ...said,
    run: (context: CommandContext, argument: string) => run({ ...context, ...given }, argument),
    ...(confirm && {
      confirm: (context, data, reply) => confirm({ ...context, ...given }, data, reply),
    }),
    ...(resume && { resume: (context, data, how) => resume({ ...context, ...given }, data, how) }),
    ...(propose && { propose: (context, argument) => propose({ ...context, ...given }, argument) }),
    ...(look && { look: (context, argument) => look({ ...context, ...given }, argument) }),
  };
}

/** Opens the commands of this tree, each with its own settings. */
export function openCommands(
  definitions: readonly CommandContribution[],
  environment: Environment,
  databases: OwnDatabases = NO_DATABASES,
): { readonly commands: readonly Command[]; readonly silent: readonly SilentContribution[] } {
  const { made, silent } = openContributions(definitions, environment, (name) => ({
    openDatabase: databases.of('command', name),
  }));
  const fileBy = new Map(definitions.map((one) => [one.name, fileOf(one)]));
  const commands = made.map(({ name, value }) => {
    noteFile(value, fileBy.get(name) ?? null);
    return value;
  });
  return { commands, silent };
}

const Discovered = contributionSchema<CommandContribution>(
  'defineCommand({ scope, name, help, run })',
);

/**
 * Returns the commands of this tree: of the files in `src/commands/`, and in its room `code/` for those that change
 * the code, that export a `command`.
 */
export function discoverCommands(
  folder = `${import.meta.dirname}/../../commands`,
): Promise<readonly CommandContribution[]> {
  return discoverExports(folder, 'command', Discovered, ['code']);
}
