import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
  contributionSchema,
} from '../lib/contribution.ts';
import { discoverExports } from '../lib/discover.ts';
import type { ModelFailure } from './failure.ts';
import type { Model } from './model.ts';

/** As much of a log as models need. */
export type ModelLog = {
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
};

/** A router's view of a model, without any way to its key. */
export type ModelFacts = Pick<Model, 'id' | 'contextTokens' | 'abilities'>;

/** Services that a router works with, beside its own settings. */
export type RouterContext = {
  /** The name of the model of the settings, as in MODEL. */
  readonly configuredName: string;
  /** Returns the model that the owner has chosen for the chats of a folder by `/model`; null for none. */
  readonly chosenFor: (folder: string) => string | null;
  /** Returns what is known of a model, by its name with the prefix; null where no provider here has it. */
  readonly find: (name: string) => ModelFacts | null;
  readonly log: ModelLog;
  readonly now: () => number;
};

/** The turn that a model is chosen for. */
export type RoutedTurn = {
  /** Its id; undefined where somebody only looks which models would answer. */
  readonly id?: string | undefined;
  /** The chat that it answers in; undefined together with the id. */
  readonly jid?: string | undefined;
  readonly group: { readonly name: string; readonly folder: string; readonly isMain: boolean };
  readonly isTask: boolean;
  /**
   * The kind of work: `chat` answers a message, `task` is scheduled; a service's turn has a kind of its own. Beside
   * its own kind, each turn is asked about once as `summary`, which shortens the conversation, and as `subagent`,
   * the loop of a tool.
   */
  readonly taskType: string;
  /** The pool of models that it asks for by name; undefined for none. */
  readonly pool?: string | undefined;
  /** The prompt of the turn. */
  readonly prompt: string;
  /** True if pictures came with it, which a model is shown where it sees. */
  readonly hasPictures?: boolean | undefined;
};

/** Ways of a router to the others and to the host, for one turn. */
export type RouterCall = {
  /** Asks the routers after this one, for a router that changes their answer. No models where none names any. */
  readonly next: () => Promise<Routed>;
  /** Calls a service of the tree by its name. @throws Error where it is not running, or for a turn without an id */
  readonly callService: (service: string, request: unknown) => Promise<unknown>;
};

/** A model that a router has chosen, with more than its name. */
export type ChosenModel = {
  /** Its name with the prefix. */
  readonly name: string;
  /** Headers beside those of its provider. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tells whether it is to answer in words alone; asked before each call. Then it is offered no tools. */
  readonly isTextOnly?: () => boolean;
  /** The size of its window in tokens, in place of what is known of it. */
  readonly contextTokens?: number;
  /** The longest answer, in tokens. */
  readonly maxTokens?: number;
};

/** Models that a router has chosen, and its part in what becomes of them. */
export type Routed = {
  /** Best first. */
  readonly models: readonly (string | ChosenModel)[];
  /** A line that the chat gets before the answer. */
  readonly notice?: string | null;
  /**
   * Called where one of them gave no answer and the next is asked. Returns a line that the chat gets before the
   * answer; null for none.
   */
  onPassedOver?(name: string, failure: ModelFailure): string | null;
  /** Called where one of them began to answer. */
  onAnswer?(name: string): void;
};

/**
 * Returns the models for a turn, best first, by their names with the prefixes or with more; null leaves it
 * to the next router.
 */
export type Router = (turn: RoutedTurn, call: RouterCall) => RouterAnswer | Promise<RouterAnswer>;
type RouterAnswer = readonly string[] | Routed | null;

/**
 * The export `router` of a file in `src/model/routers/`. Its `create` returns null where nothing is set for
 * it.
 */
export type RouterContribution = Contribution<RouterContext, Router | null> & {
  /** Routers are asked in this order, then by name, until one names a model. */
  readonly order: number;
};

/** Defines a router. While its settings cannot be used, the others choose. */
export function defineRouter<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, RouterContext, Router | null> & { readonly order: number },
): RouterContribution {
  return { ...contributionOf(definition), order: definition.order };
}

const Definition = contributionSchema<RouterContribution>('defineRouter({ name, order, create })');

/** Returns the routers of this tree: of the files that export a `router`. */
export function discoverRouters(
  folder = `${import.meta.dirname}/routers`,
): Promise<readonly RouterContribution[]> {
  return discoverExports(folder, 'router', Definition);
}
