import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { HostLog } from './log.ts';

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
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The prompt of the turn. */
  readonly prompt: string;
  /** True if an earlier conversation ended before this turn. */
  readonly beginsAnew: boolean;
};

/** Writes a section for a turn; null leaves it out. */
export type PromptSection = (turn: PromptTurn) => string | null | Promise<string | null>;

/** The export `section` of a file in `src/prompt/`. Its `create` returns null where nothing is set for it. */
export type PromptContribution = Contribution<PromptContext, PromptSection | null> & {
  /** Sections are joined in this order, then by name. */
  readonly order: number;
};

/** Defines a section of the system prompt. Every turn pays for it, so it is short. */
export function definePromptSection<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, PromptContext, PromptSection | null> & {
    readonly order: number;
  },
): PromptContribution {
  return { ...contributionOf(definition), order: definition.order };
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
