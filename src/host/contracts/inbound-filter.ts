import type { z } from 'zod';
import type { FetchedAttachment, InboundMessage } from '../../channels/channel.ts';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../../lib/contribution.ts';
import { discoverExports } from '../../lib/discover.ts';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { HostLog } from './log.ts';

/** Services that a filter works with, beside its own settings. */
export type InboundFilterContext = {
  readonly assistantName: string;
  /** Absolute path of the folder for what a filter keeps. */
  readonly dataDir: string;
  readonly timeZone: string;
  readonly log: HostLog;
  readonly now: () => number;
  readonly newId: () => string;
  readonly openDatabase: OpenDatabase;
};

/** A message of a registered chat as a filter sees it, with what earlier filters made of its text. */
export type FilteredMessage = Pick<InboundMessage, 'id' | 'isDirect' | 'text' | 'sentAt'> & {
  readonly channel: string;
  readonly group: { readonly name: string; readonly folder: string; readonly isMain: boolean };
  readonly sender: { readonly id: string; readonly name: string | null; readonly isOwner: boolean };
  /** Something to know about and not to answer. */
  readonly isContext: boolean;
  readonly attachments: NonNullable<InboundMessage['attachments']>;
};

/** A filter's means for one message. */
export type FilterCall = {
  /** Aborted at the end of the filter's time, and when the assistant ends. */
  readonly signal: AbortSignal;
  /** Fetches the file of the message; it is deleted when the filter has ended. Rejects if there is none. */
  readonly fetchAttachment: () => Promise<FetchedAttachment>;
  /**
   * Charges work on the message to its group's budget, under the filter's name, in millionths of a dollar. Returns
   * false if the group may spend nothing more today: then do not do the work.
   */
  readonly pay: (microUsd: number) => boolean;
};

/** A filter's decision about a message. */
export type FilterResult =
  | { readonly kind: 'pass' }
  /** `text` replaces what was said. `note` is a line for the agent after it, which begins with the filter's name. */
  | {
      readonly kind: 'change';
      readonly text?: string;
      readonly note?: string;
      /**
       * A line for the chat in place of an answer, such as why a voice note could not be understood: said where the
       * message would have been answered. The agent finds both with the next message.
       */
      readonly reply?: string;
    }
  /** The message is not stored. The reason is counted and shown in `/status`: one of a few fixed texts. */
  | { readonly kind: 'drop'; readonly reason: string };

/**
 * Examines each message of a registered chat before it becomes part of the chat. The owner's commands skip all
 * filters. A text that a filter has changed is not a command and answers no question.
 *
 * If a filter returns a promise, the message is on disk and acknowledged, and later messages of its chat wait. After
 * a crash, the filters start again with it.
 */
export type InboundFilter = (
  message: FilteredMessage,
  call: FilterCall,
) => FilterResult | Promise<FilterResult>;

type Conduct = {
  /** Filters are asked in this order, then by name. */
  readonly order: number;
  /**
   * Decides about a message that the filter throws at, or takes too long for: it goes on as it is, or it is
   * kept, and tried again after a pause. A filter that has to keep something from the agent holds. Settings
   * that cannot be used count as such a failure.
   */
  readonly onFailure: 'pass' | 'hold';
  /** The longest that its promise may take; two minutes by default. */
  readonly timeoutMs?: number;
};

/** The export `filter` of a file in `src/inbound-filters/`. Its `create` returns null if nothing is set for it. */
export type InboundFilterContribution = Contribution<InboundFilterContext, InboundFilter | null> &
  Conduct;

/** Defines a filter of what people write. */
export function defineInboundFilter<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, InboundFilterContext, InboundFilter | null> & Conduct,
): InboundFilterContribution {
  const { order, onFailure, timeoutMs } = definition;
  const conduct = { order, onFailure, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return { ...contributionOf(definition), ...conduct };
}

const Definition = contributionSchema<InboundFilterContribution>(
  'defineInboundFilter({ name, order, onFailure, create })',
);

/** Returns the filters of this tree: of the files in `src/inbound-filters/` that export a `filter`. */
export function discoverInboundFilters(
  folder = `${import.meta.dirname}/../../inbound-filters`,
): Promise<readonly InboundFilterContribution[]> {
  return discoverExports(folder, 'filter', Definition);
}
