import { z } from 'zod';
import type { Settings } from '../config.ts';
import { discoverExports } from '../lib/discover.ts';

/** What a step works with. */
export type SetupContext = {
  readonly settings: Settings;
  /** What stands behind the step's name on the command line. */
  readonly args: readonly string[];
  /** Whether somebody looks at a terminal that `say` writes to. */
  readonly isInteractive: boolean;
  /** Shows lines to the owner. */
  readonly say: (text: string) => void;
  /**
   * Asks the owner for a line, and again until it fits. Without a terminal the next line that is piped in
   * is the answer, and one that does not fit ends the step.
   */
  readonly ask: (question: SetupQuestion) => Promise<string>;
  /** The settings as they would be with these values in `.env`. @throws SettingsError */
  readonly settingsWith: (values: Readonly<Record<string, string>>) => Settings;
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
  /** What is in the line at first. */
  readonly initial?: string;
  /** Says in a sentence what is wrong with an answer; null for nothing. */
  readonly check: (typed: string) => string | null | Promise<string | null>;
};

/** What came of it: a line for the owner, and facts for programs. */
export type SetupOutcome = {
  readonly summary: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * One thing to set up, by `claw setup <name>`. A file in `src/setup/` that exports one as `setup` is
 * discovered.
 */
export type SetupStep = {
  readonly name: string;
  /** What it does, as part of a sentence. */
  readonly help: string;
  /** What is set up already, in a few words; null when nothing is. */
  standing?(settings: Settings): string | null;
  /** What stands behind its name to set up anew what is set up. */
  readonly again?: readonly string[];
  /** @throws SetupRefused with words for the owner; everything is then as before */
  run(context: SetupContext): Promise<SetupOutcome>;
};

/** Why a step was not done. Wrong use is what the owner typed; anything else is how things are. */
export class SetupRefused extends Error {
  override readonly name = 'SetupRefused';
  readonly isWrongUse: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isWrongUse?: boolean } = {}) {
    super(message, options);
    this.isWrongUse = options.isWrongUse === true;
  }
}

/**
 * Whether a step refused. By its name, because claw's own modules may be joined into one file, where
 * this class is another one than that of a step that is loaded from its file.
 */
export function isSetupRefused(error: unknown): error is SetupRefused {
  return error instanceof Error && error.name === 'SetupRefused';
}

const Step = z.custom<SetupStep>(
  (value) =>
    z.looseObject({ name: z.string().min(1), help: z.string(), run: z.function() }).safeParse(value)
      .success,
  'must be a SetupStep: { name, help, run }',
);

/** Every step of this tree: the files of this folder that export a `setup`. */
export function discoverSetupSteps(
  folder: string = import.meta.dirname,
): Promise<readonly SetupStep[]> {
  return discoverExports(folder, 'setup', Step);
}
