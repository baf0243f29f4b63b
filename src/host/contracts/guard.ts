import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { HostToolResult } from '../../sandbox/sandbox.ts';
import type { HostLog } from './log.ts';
import type { Elsewhere, Tool } from './tool.ts';

/** Services that a guard works with, beside its own settings. */
export type GuardContext = {
  /** Absolute path of the folder for what a guard keeps; what is below `of-chats/<folder>` goes with that chat. */
  readonly dataDir: string;
  /** Absolute path of the groups' folders. Their agents can put links there. */
  readonly groupsDir: string;
  readonly timeZone: string;
  readonly log: HostLog;
  readonly now: () => number;
  readonly newId: () => string;
};

/** A guard's view of a tool. */
export type GuardedTool = Pick<Tool, 'name' | 'isMainOnly' | 'isTaskOnly'>;

/** The turn in which tools are offered and called. */
export type ToolTurn = { readonly isMain: boolean; readonly isTask: boolean };

/** A call that an agent makes, before it runs. */
export type GuardedCall = {
  readonly tool: GuardedTool;
  /** The chat whose agent calls. */
  readonly group: { readonly name: string; readonly folder: string; readonly isMain: boolean };
  readonly isTask: boolean;
  /** `container` for a tool of the agent's own, such as `shell`. */
  readonly runsIn: 'host' | 'container';
  /** The id of the turn that it belongs to. */
  readonly turn: string;
  /** The first thing from outside that a turn of the owner's chats has read; null for none, and in other chats. */
  readonly outside: string | null;
  /** The target of the call outside its own chat; null for none. */
  readonly elsewhere: Elsewhere | null;
  /** As the tool gets it; as the model wrote it where the tool runs in the container. */
  readonly input: unknown;
};

/** A guard's decision about a call. */
export type Verdict =
  | { readonly kind: 'allow' }
  /** The reason is what the agent is told. */
  | { readonly kind: 'deny'; readonly reason: string }
  /** The owner is shown the call as it is, and allows it or not; no answer in time is a no. */
  | { readonly kind: 'ask'; readonly reason: string; readonly grants?: readonly Grant[] };

/** A yes that covers more than the one call. */
export type Grant = {
  /** The word that gives it, neither `yes` nor `no`. */
  readonly word: string;
  readonly label: string;
  /** Called when the owner has said it. */
  given(): void;
};

/** Checks every call of a host tool, and those of the agent's own that it names. An error that it throws refuses the call. */
export type Guard = {
  /** Tells whether a tool is offered at all in such a turn; `before` has to deny a tool that is not. */
  isOffered?(tool: GuardedTool, turn: ToolTurn): boolean;
  before?(call: GuardedCall): Verdict | Promise<Verdict>;
  /**
   * Called for every call that it examines, once all guards and the owner have decided: with the reason why the call
   * does not run, or null if it runs now. An error that it throws refuses the call.
   */
  decided?(call: GuardedCall, refusal: string | null): void;
  /** Returns the result that the agent gets, or that the next guard sees. */
  after?(call: GuardedCall, result: HostToolResult): HostToolResult | Promise<HostToolResult>;
};

/** The export `guard` of a file in `src/guards/`. Its `create` returns null if nothing is set for it. */
export type GuardContribution = Contribution<GuardContext, Guard | null> & {
  /** Guards are asked in this order, then by name. */
  readonly order: number;
  readonly ownTools?: OwnTools;
};

/**
 * The agent's own tools that a guard examines, by name; none by default. Each of their calls waits for the host,
 * which sees it before it runs and, if the guard has an `after`, its result.
 */
export type OwnTools = readonly string[] | 'all';

/** Defines a guard. While its settings cannot be used, every call of a host tool is refused. */
export function defineGuard<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, GuardContext, Guard | null> & {
    readonly order: number;
    readonly ownTools?: OwnTools;
  },
): GuardContribution {
  const { order, ownTools = [] } = definition;
  return { ...contributionOf(definition), order, ownTools };
}

const Definition = contributionSchema<GuardContribution>('defineGuard({ name, order, create })');

/** Returns the guards of this tree: of the files in `src/guards/` that export a `guard`. */
export function discoverGuards(
  folder = `${import.meta.dirname}/../../guards`,
): Promise<readonly GuardContribution[]> {
  return discoverExports(folder, 'guard', Definition);
}
