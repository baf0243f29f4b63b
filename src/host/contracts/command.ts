import { z } from 'zod';
import type { ChannelStatus } from '../../channels/channel.ts';
import type { Settings } from '../../config.ts';
import { discoverExports } from '../../lib/discover.ts';
import { nearestNames } from '../../lib/nearest.ts';
import type { Store } from '../../store/store.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { AddressOf } from '../groups/chat-list.ts';
import type { Registry } from '../groups/registry.ts';
import type { TaskBook } from '../scheduler/task-book.ts';
import type { CancelledCommand } from '../turns/running-command.ts';
import type { Claw } from './claw.ts';
import type { Git } from './git.ts';
import type { HostOptions } from './options.ts';
import type { Choice, Reply } from './question.ts';

/** What a command may know and do. */
export type CommandContext = {
  readonly store: Store;
  readonly settings: Settings;
  readonly projectDir: string;
  readonly version: string;
  readonly claw: Claw;
  readonly git: Git;
  readonly commands: readonly OwnerCommand[];
  readonly channels: () => readonly {
    readonly name: string;
    readonly status: ChannelStatus;
    readonly isOpen: boolean;
    /** The setting that is the channel's own allow-list; null for none. */
    readonly allowSetting: string | null;
  }[];
  readonly silentChannels?: HostOptions['silentChannels'];
  readonly silentParts?: HostOptions['silentParts'];
  readonly addressOf: AddressOf;
  readonly budgets: Budgets;
  readonly registry: Registry;
  /** One line on what runs the agents, or what to install. */
  readonly sandbox: () => Promise<string>;
  /** Whether this chat is a terminal that draws what stands in a block of the kind `qr`. */
  readonly drawsCodes: boolean;
  /** Whether a setting has a value, in `.env` or the environment. */
  readonly isSet: (setting: string) => boolean;
  /** Says what is wrong with the settings as the next start would read them; null when nothing is. */
  readonly settingsProblem: () => string | null;
  /** Progress is said at most this often, in milliseconds. */
  readonly progressMs: number;
  /** Says something in the chat while the command runs. */
  readonly say: (text: string) => void;
  /** Says in the chat how far the command is: shown apart from answers where a channel can. */
  readonly sayProgress: (text: string) => void;
  /** Keeps what `resume` needs, in case the process ends before the command does. */
  readonly keep: (data: unknown) => void;
  /** Takes turns out of the failed state and runs them again. */
  readonly retryFailed: () => number;
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
  readonly text: string;
  readonly data: unknown;
  /** Said at a no to a question without choices, and when the owner talks of something else. */
  readonly declined: string;
  /** Numbered ways to answer; without them it is yes or no. */
  readonly choices?: readonly Choice[];
  /** Whether a choice may be made with `all`, for what would be asked next as well. */
  readonly mayBeForAll?: boolean;
  /** The command whose `confirm` gets the answer; the one that asks by default. */
  readonly command?: string;
};

export type CommandResult =
  | { readonly kind: 'answer'; readonly text: string }
  | CommandQuestion
  /** The assistant restarts, and the new process answers by `resume` with `data`. */
  | { readonly kind: 'restart'; readonly data: unknown };

/** How the process came up that resumes a command. */
export type Resumption = {
  /** Why the supervisor took the new tree back; null when it did not. */
  readonly rolledBack: string | null;
};

/** What a file in `src/commands/` exports as `command` to be discovered. */
export type OwnerCommand = {
  /** As typed, without the slash; `<…>` stands for the argument: `add-<skill>`. */
  readonly name: string;
  readonly help: string;
  run(context: CommandContext, argument: string): Promise<CommandResult>;
  confirm?(context: CommandContext, data: unknown, reply: Reply): Promise<CommandResult>;
  /** A text is the answer. */
  resume?(
    context: CommandContext,
    data: unknown,
    resumption: Resumption,
  ): Promise<string | CommandResult>;
  /**
   * Returns the question that `run` would ask, with nothing begun: what an agent proposes is asked about
   * once. Null where `run` has to tell; then the owner is asked first whether it may run at all.
   */
  propose?(context: CommandContext, argument: string): Promise<CommandQuestion | null>;
  /** What the main group's agent is told when it calls this command; changes nothing. */
  look?(context: CommandContext, argument: string): Promise<string>;
  /** Whether that agent may propose it: then it runs at the owner's yes. */
  readonly isForAgents?: boolean;
  /**
   * It looks, or writes a word to the database: it runs beside a longer command instead of after it,
   * leaves an open question open, and asks none.
   */
  readonly isQuick?: boolean;
  /** Whether nothing is said after its name; where something is, the owner is told, and it does not run. */
  readonly takesNothing?: boolean;
  /** Whether `/stop` may end it at any time, by the context's `signal`. */
  readonly isCancellable?: boolean;
};

const Command = z.custom<OwnerCommand>(
  (value) =>
    z
      .looseObject({ name: z.string().min(1), help: z.string().min(1), run: z.function() })
      .safeParse(value).success,
  'must be an OwnerCommand: { name, help, run }',
);

/** Every owner's command of this tree. */
export function discoverCommands(
  folder = `${import.meta.dirname}/../../commands`,
): Promise<readonly OwnerCommand[]> {
  return discoverExports(folder, 'command', Command);
}

/** Whether a text is meant as a command: `/word`, alone or before a space, as no path is. */
export function isCommandText(text: string): boolean {
  return /^\/[a-z][a-z0-9-]*(\s|$)/i.test(text.trim());
}

export type CommandMatch =
  | { readonly kind: 'found'; readonly command: OwnerCommand; readonly argument: string }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] };

/** Finds the command a text calls; `/add-telegram` and `/add telegram` call `add-<skill>`. */
export function matchCommand(text: string, commands: readonly OwnerCommand[]): CommandMatch {
  const typed = text.trim().slice(1);
  const word = typed.split(/\s/, 1)[0]?.toLowerCase() ?? '';
  const rest = typed.slice(word.length).trim();
  for (const command of commands) {
    const [head = '', parameter] = command.name.split(/<[^>]*>/);
    if (parameter === undefined) {
      if (word === head) return { kind: 'found', command, argument: rest };
    } else if (word.startsWith(head) && word.length > head.length) {
      return { kind: 'found', command, argument: `${word.slice(head.length)} ${rest}`.trim() };
    } else if (`${word}-` === head && rest !== '') {
      return { kind: 'found', command, argument: rest };
    }
  }
  const names = commands.map((command) => command.name);
  return { kind: 'unknown', nearest: nearestNames(word, names, 3) };
}
