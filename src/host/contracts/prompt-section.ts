import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { HostLog } from './log.ts';
import type { CallService } from './service-call.ts';

/** Services that a section works with, beside its own settings. */
export type PromptContext = {
  readonly assistantName: string;
  /** Absolute path of the folder for what a section keeps. */
  readonly dataDir: string;
  readonly timeZone: string;
  readonly log: HostLog;
};

/** The turn that a system prompt is for. */
export type PromptTurn = {
  readonly group: { readonly name: string; readonly folder: string; readonly isMain: boolean };
  readonly isTask: boolean;
  /** The kind of work: `chat` answers a message, `task` is scheduled; a service's turn has a kind of its own. */
  readonly taskType: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The prompt of the turn. */
  readonly prompt: string;
  /** True if an earlier conversation ended before this turn. */
  readonly beginsAnew: boolean;
  /** The name of the channel on which the turn is answered. */
  readonly channel: string;
  /** Names of the models that may answer, best first, as `MODEL` has them. */
  readonly models: readonly string[];
  /** Senders of the turn's messages, each once, the newest last; none in a task. */
  readonly senders: readonly PromptSender[];
  /** The number of turns of other chats in which an agent works now. */
  readonly othersAtWork: number;
};

/** A person whose message is part of a turn. */
export type PromptSender = {
  /** The channel's own id of them. */
  readonly id: string;
  readonly name: string | null;
  readonly isOwner: boolean;
};

/**
 * Facts for a section that only the container can write, because the files that it reads are there. The file of the
 * same name in `container/agent/prompt/` gets them.
 */
export type ForAgent = { readonly forAgent: Readonly<Record<string, unknown>> };

type Written = string | ForAgent | null;

/** The way of a section to the host, for one turn. */
export type PromptCall = { readonly callService: CallService };

/** Writes a section for a turn; null leaves it out. */
export type PromptSection = (turn: PromptTurn, call: PromptCall) => Written | Promise<Written>;

/** The export `section` of a file in `src/prompt/`. Its `create` returns null if nothing is set for it. */
export type PromptContribution = Contribution<PromptContext, PromptSection | null> & {
  /** Sections are joined in this order, then by name. */
  readonly order: number;
  readonly changes?: 'each-turn';
};

/** Defines a section of the system prompt. Every turn pays for it, so it is short. */
export function definePromptSection<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, PromptContext, PromptSection | null> & {
    readonly order: number;
    /**
     * Set this if the text differs from turn to turn, such as the time. The text then goes with the question instead
     * of the system prompt, because servers cache only up to the first difference.
     */
    readonly changes?: 'each-turn';
  },
): PromptContribution {
  const { order, changes } = definition;
  return { ...contributionOf(definition), order, ...(changes && { changes }) };
}

const Definition = contributionSchema<PromptContribution>(
  'definePromptSection({ name, order, create })',
);

/** Returns the sections of this tree: of the files in `src/prompt/` that export a `section`. */
export function discoverPromptSections(
  folder = `${import.meta.dirname}/../../prompt`,
): Promise<readonly PromptContribution[]> {
  return discoverExports(folder, 'section', Definition);
}
