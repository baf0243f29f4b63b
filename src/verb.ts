import type { Readable, Writable } from 'node:stream';
import type { z } from 'zod';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
} from './lib/contribution.ts';

/** Services that a verb works with, beside its own settings. */
export type VerbContext = {
  /** Absolute path of the project that it is called in. */
  readonly projectDir: string;
  /** Absolute path of the folder for database, sessions, credentials and logs. */
  readonly dataDir: string;
  readonly now: () => number;
};

/** One call of a verb, and its means. */
export type VerbCall = {
  /** The words after the verb that are no options. */
  readonly words: readonly string[];
  /** Options by their long names in camelCase: true, or what was given. */
  readonly options: Readonly<Record<string, unknown>>;
  /** True if the result is for a program: then `lines` are not printed. */
  readonly isJson: boolean;
  /** Width of the terminal that `lines` go to; null where they go elsewhere. */
  readonly columns: number | null;
  /** Aborted by Ctrl-C and its like. */
  readonly signal: AbortSignal;
  /** The process's own, for a verb that speaks a protocol with a program: it returns no `lines`, nor says anything. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Tells whether an assistant runs on this data folder and can be talked to. */
  isAssistantRunning(): Promise<boolean>;
  /** Says something in the owner's chat, prints the answers as they come, and returns them. */
  say(text: string): Promise<readonly string[]>;
  /** Asks a person for a yes; `--yes`, and where there is nobody to ask, is a yes. */
  confirm(question: string): Promise<boolean>;
  /**
   * Asks a person before something is lost for good. `--yes` is a yes; where nobody can be asked (no terminal, or
   * `--json`), nothing is assumed.
   */
  consent(question: string): Promise<'yes' | 'no' | 'nobody-to-ask'>;
  /** Says on stderr how far the verb is. */
  progress(text: string): void;
};

/** The result of a verb: data for programs, and lines for people. */
export type VerbEnd = { readonly data: unknown; readonly lines?: readonly string[] };

/** Carries out one call. Throws a `VerbError` for what the caller has to know. */
export type RunOfVerb = (call: VerbCall) => Promise<VerbEnd>;

/** Why a verb did not do its work, as a sentence that says what to do next. */
export class VerbError extends Error {
  override readonly name = 'VerbError';
  /** Wrong words or options; an assistant that has to run, or has to be stopped first; a no of the owner; or anything else. */
  readonly kind: 'usage' | 'stopped' | 'running' | 'declined' | 'failed';

  constructor(kind: VerbError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The face of a verb on the command line. */
type VerbFacts = {
  /** The verb's purpose, for the list of verbs. */
  readonly help: string;
  /** Its words, such as `[action...]` or `<file>`; none by default. */
  readonly usage?: { readonly argument: string; readonly help: string };
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
};

/** The export `verb` of a file in `src/verbs/`. Its `create` returns null where nothing is set for it. */
export type VerbContribution = Contribution<VerbContext, RunOfVerb | null> & VerbFacts;

/** Defines a verb of `claw`, in a file of its name. It is loaded when it is called, or help is. */
export function defineVerb<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, VerbContext, RunOfVerb | null> & VerbFacts,
): VerbContribution {
  const { create: _, settings: __, needs: ___, ...facts } = definition;
  return { ...facts, ...contributionOf(definition) };
}
