import type { z } from 'zod';
import type { ChannelCapabilities } from '../../channels/channel.ts';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { Group, Store } from '../../store/store.ts';
import type { FetchAttachment } from '../attachments/attachments.ts';
import type { Registry } from '../groups/registry.ts';
import type { TaskBook } from '../scheduler/task-book.ts';
import type { Ask, AskQuestion } from './ask.ts';
import type { HostLog } from './log.ts';
import type { CallService } from './service-call.ts';

/** Services that a tool works with, beside its own settings. */
export type ToolContext = {
  readonly assistantName: string;
  /** Absolute path of the folder for what a tool keeps. */
  readonly dataDir: string;
  /** Absolute path of the groups' folders; agents can put links into those of groups. */
  readonly groupsDir: string;
  readonly timeZone: string;
  readonly log: HostLog;
  readonly now: () => number;
  readonly newId: () => string;
  readonly openDatabase: OpenDatabase;
};

/** A question of a tool. */
export type ToolQuestion = AskQuestion & {
  /** The channel's id of a person who has written in the caller's chat; the owner by default. */
  readonly to?: string;
};

/** Parts of a tool's message beside its text. */
export type SentAlong = {
  /** Files of the caller's folder, by their paths there. */
  readonly attachments?: readonly string[];
  /** The text is an emoji for the message that the turn answers, in the caller's chat. */
  readonly isReaction?: boolean;
};

/** Services for one call of a tool. `caller` was decided by the socket that the call came through. */
export type ToolCall = {
  readonly caller: Group;
  readonly store: Store;
  /** Queues a message for a registered group. Rejects if that is impossible, in words for the agent. */
  readonly send: (jid: string, text: string, along?: SentAlong) => Promise<void>;
  /** Asks the owner in their own chat, or a person in the caller's, and waits for their word. */
  readonly ask: Ask<ToolQuestion>;
  /** Tells whether a chat can be written to: now, once its channel is connected, or not at all. */
  readonly reachOf: (jid: string) => 'connected' | 'waiting' | 'gone';
  /** Returns what the channel of a chat can do beside sending text. */
  readonly capabilitiesOf: (jid: string) => ChannelCapabilities;
  readonly registry: Registry;
  readonly tasks: TaskBook;
  readonly fetchAttachment: FetchAttachment;
  readonly timeZone: string;
  /** Calls an owner's command as far as an agent may: it looks, or proposes it to the owner. */
  readonly ownerCommand: (text: string) => Promise<string>;
  readonly callService: CallService;
  /** Ends the turn without a message; null in a turn that answers a message. */
  readonly staySilent: (() => void) | null;
  /**
   * Identifies this call for a far end. It is the same if the call is repeated because nobody knows whether it took
   * effect, also by a later run of the turn. Null for a call that may be repeated.
   */
  readonly idempotencyKey: string | null;
  /** Aborted when the turn has ended or was stopped: nobody waits for the result any more. */
  readonly signal: AbortSignal;
};

/**
 * The effect of a second call with the same input. `harmless`: nothing new, as with reading. `once`: the call must
 * not be made again, so a later run of its turn gets the first one's result. `each-run`: the call decides how this
 * run of the turn ends, so a later run must make it again.
 */
export type Repeat = 'harmless' | 'once' | 'each-run';

/**
 * The author of a tool's result. `own`: the owner, the people of the chat, or the assistant itself. `outside`:
 * anybody else, such as a page, a mail, a file or another chat. If a turn of the owner has read something from
 * outside, it asks before it acts on other chats.
 */
export type Brings = 'own' | 'outside';

/** The target of a call outside the caller's own chat. A yes covers the `key`; people see the `name`. */
export type Elsewhere = { readonly key: string; readonly name: string };

/** Something agents can ask the host for, without its name. */
export type ToolBody<I extends z.ZodType = z.ZodType> = {
  readonly description: string;
  /** A few words that tell waiting people what it does: `searching the web`. By default made from its name. */
  readonly doing?: string;
  readonly isMainOnly: boolean;
  /** Whether a call may be made again if its turn is interrupted and runs again. `once` by default. */
  readonly repeat?: Repeat;
  /** `outside` by default: only a tool that says so is taken to return own words. */
  readonly brings?: Brings;
  /**
   * Returns the target outside the caller's own chat that the call would change, begin or write to; null for none.
   */
  elsewhere?(
    call: Pick<ToolCall, 'caller' | 'store' | 'registry'>,
    input: z.output<I>,
  ): Elsewhere | null;
  /** True if it is offered only in scheduled tasks. False by default. */
  readonly isTaskOnly?: boolean;
  /** The groups' folders in which it is offered. All by default. */
  readonly folders?: readonly string[];
  readonly input: I;
  /** The JSON schema that the model is shown; made of `input` by default. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** Gets input that has passed `input`. What it throws becomes the agent's error text. */
  run(call: ToolCall, input: z.output<I>): Promise<unknown>;
};

/** Something agents can ask the host for. */
export type Tool = ToolBody & { readonly name: string };

/** The tools of one file: one that stays, or a list that may change while the assistant runs. */
export type ToolSource =
  | { readonly kind: 'one'; readonly tool: Tool }
  | { readonly kind: 'list'; list(): readonly Tool[] };

/** The export `tool` of a file in `src/tools/`. Its `create` returns null if nothing is set for it. */
export type ToolContribution = Contribution<ToolContext, ToolSource | null>;

/** Defines a tool by its name. `create` gets its own settings, parsed, and a `ToolContext`. */
export function defineTool<S extends z.ZodRawShape, I extends z.ZodType>(
  definition: ContributionDefinition<S, ToolContext, ToolBody<I> | null>,
): ToolContribution {
  const { name } = definition;
  checkName(name);
  return contributionOf<S, ToolContext, ToolSource | null>({
    ...definition,
    create(context) {
      const body = definition.create(context);
      return body === null ? null : { kind: 'one', tool: { name, ...body } };
    },
  });
}

/**
 * Defines tools whose number is not known before the assistant runs, such as those of another server. The list is
 * requested at the beginning of each turn, and must be returned at once from what is known.
 *
 * @public for skills; no tool of the core comes from elsewhere
 */
export function defineTools<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, ToolContext, (() => readonly Tool[]) | null>,
): ToolContribution {
  return contributionOf<S, ToolContext, ToolSource | null>({
    ...definition,
    create(context) {
      const list = definition.create(context);
      return list === null ? null : { kind: 'list', list };
    },
  });
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** Tells whether models and the socket's protocol take this as the name of a tool. */
export function isToolName(name: string): boolean {
  return NAME.test(name);
}

function checkName(name: string): void {
  if (isToolName(name)) return;
  throw new TypeError(
    `"${name}" is not a valid name of a tool: letters, digits, _ and -, at most 63.`,
  );
}

const Definition = contributionSchema<ToolContribution>(
  'defineTool({ name, settings, create }) or defineTools',
);

/** Returns the host tools of this tree: of the files in `src/tools/` that export a `tool`. */
export function discoverTools(
  folder = `${import.meta.dirname}/../../tools`,
): Promise<readonly ToolContribution[]> {
  return discoverExports(folder, 'tool', Definition);
}
