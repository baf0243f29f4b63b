import { z } from 'zod';
import { discoverExports } from '../lib/discover.ts';
import type { Embed } from '../lib/embed.ts';
import { type Environment, parseWhatFits } from '../lib/settings.ts';
import { embedBy } from '../model/embeddings.ts';

/** Services that a step works with, beside its own settings. */
export type SetupContext = {
  /** Absolute path of the folder for database, credentials and the like. */
  readonly dataDir: string;
  /** The words after the step's name on the command line. */
  readonly args: readonly string[];
  /** True where `say` writes to a terminal with a person at it. */
  readonly isInteractive: boolean;
  /** Lines of that terminal; left out where they are not known. */
  readonly rows?: number | undefined;
  /** Shows lines to the owner. One that begins with two spaces is never broken: a command to copy. */
  readonly say: (text: string) => void;
  /**
   * Asks the owner for a line, and again until it fits. Without a terminal the next line that is piped in
   * is the answer, and one that does not fit ends the step.
   */
  readonly ask: (question: SetupQuestion) => Promise<string>;
  /** Writes settings into `.env`, which only its owner can read then. */
  readonly write: (values: Readonly<Record<string, string>>) => void;
  /** Aborted by Ctrl-C and its like. */
  readonly signal: AbortSignal;
};

/** A question of a step. */
export type SetupQuestion = {
  readonly message: string;
  /** Not shown while it is typed. */
  readonly isSecret?: boolean;
  /** The text that is in the line at first, to be changed or added to. */
  readonly initial?: string;
  /** The answer that an empty line gives; shown until something is typed. */
  readonly proposed?: string;
  /** If answers are piped in and no line is left, the proposed answer counts, so a new question breaks no script. */
  readonly isOptional?: true;
  /** Says in a sentence what is wrong with an answer; null for nothing. */
  readonly check: (typed: string) => string | null | Promise<string | null>;
};

/** Result of a step: a line for the owner, and data for programs. */
export type SetupOutcome = {
  readonly summary: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** False where nothing was set, or what was set counts at once: a running assistant goes on as it is. */
  readonly needsRestart?: boolean;
};

/** A step's access to its own settings. */
export type OwnSettings<S extends z.ZodRawShape> = {
  /** The present values; a value that cannot be used counts as not set. */
  readonly settings: z.output<z.ZodObject<S>>;
  /** Returns the settings as they would be with these values in `.env`. */
  readonly settingsWith: (values: Readonly<Record<string, string>>) => z.output<z.ZodObject<S>>;
};

/** A step as its file writes it. */
export type SetupDefinition<S extends z.ZodRawShape> = {
  readonly name: string;
  /** The purpose of the step, as part of a sentence. */
  readonly help: string;
  /** The options that it takes on the command line: `[--again]`. A step without them is refused any word there. */
  readonly usage?: string;
  /** The schema of its settings: names of the environment, each with a default or optional. */
  readonly settings?: z.ZodObject<S>;
  /** Returns the present set-up in a few words; null where there is none. */
  currentState?(parts: OwnSettings<S> & { readonly dataDir: string }): string | null;
  /** Words after the step's name that set it up once more, such as `--again`. */
  readonly again?: readonly string[];
  /** @throws SetupRefused with words for the owner; everything is then as before */
  run(
    context: SetupContext &
      OwnSettings<S> & {
        /** Turns texts into vectors, by the providers as they are set now: for a try. */
        readonly embed: Embed;
      },
  ): Promise<SetupOutcome>;
};

/** One thing to set up, by `claw setup <name>`: what a file in `src/setup/` exports as `setup`. */
export type SetupStep = {
  readonly name: string;
  readonly help: string;
  readonly usage: string;
  readonly again: readonly string[];
  currentState(environment: Environment, dataDir: string): string | null;
  run(environment: Environment, context: SetupContext): Promise<SetupOutcome>;
};

/** Defines a set-up step. It reads its own settings of the environment, and nothing else. */
export function defineSetup<S extends z.ZodRawShape>(definition: SetupDefinition<S>): SetupStep {
  const { name, help, usage = '', again = [] } = definition;
  const schema = definition.settings ?? (z.object({}) as unknown as z.ZodObject<S>);
  const own = (environment: Environment): OwnSettings<S> => ({
    settings: parseWhatFits(schema, environment).values,
    settingsWith: (values) => parseWhatFits(schema, { ...environment, ...values }).values,
  });
  return {
    name,
    help,
    usage,
    again,
    currentState: (environment, dataDir) =>
      definition.currentState?.({ ...own(environment), dataDir }) ?? null,
    async run(environment, context) {
      if (usage === '' && context.args.length > 0) {
        const words = `\`npx claw setup ${name}\` takes no options: it asks, or reads the answers as lines.`;
        throw new SetupRefused(words, { isWrongUse: true });
      }
      return await definition.run({ ...context, ...own(environment), embed: embedBy(environment) });
    },
  };
}

/** The reason why a step was not done: wrong use by the owner, or the state of the machine. */
export class SetupRefused extends Error {
  override readonly name = 'SetupRefused';
  readonly isWrongUse: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isWrongUse?: boolean } = {}) {
    super(message, options);
    this.isWrongUse = options.isWrongUse === true;
  }
}

const BACK = 'back';

/**
 * Asks for an answer that is tried together with those before it, such as a password with its user name. Once a try
 * was refused, the word `back` asks for those before it again.
 *
 * @param before asks for the answers before it; it is called again with what was answered, to propose that
 */
export async function askTogether<T>(
  ask: SetupContext['ask'],
  before: (answered: T | null) => Promise<T>,
  last: (answered: T) => SetupQuestion,
): Promise<{ readonly before: T; readonly last: string }> {
  let answered: T | null = null;
  for (;;) {
    answered = await before(answered);
    const question = last(answered);
    let isRefused = false;
    const isBack = (line: string) => isRefused && line.trim().toLowerCase() === BACK;
    const typed = await ask({
      ...question,
      async check(line) {
        const problem = isBack(line) ? null : await question.check(line);
        if (problem === null) return null;
        isRefused = true;
        return `${problem} To change the answer before this one, type ${BACK}.`;
      },
    });
    if (!isBack(typed)) return { before: answered, last: typed };
  }
}

const Step = z.custom<SetupStep>(
  (value) =>
    z.looseObject({ name: z.string().min(1), help: z.string(), run: z.function() }).safeParse(value)
      .success,
  'must be made by defineSetup({ name, help, run })',
);

/** Returns every step of this tree: the files of this folder that export a `setup`. */
export function discoverSetupSteps(
  folder: string = import.meta.dirname,
): Promise<readonly SetupStep[]> {
  return discoverExports(folder, 'setup', Step);
}
