import type { Command } from 'commander';
import type { ProofScope } from '../commands.ts';
import type { Additions } from './additions.ts';
import type { CliResult, DiscoveredResult } from './result.ts';
import type { Ui } from './ui.ts';

/** The options that every verb takes. */
export type GlobalOptions = {
  readonly json?: boolean;
  readonly cwd?: string;
  readonly yes?: boolean;
  /** Leaves out how far a verb is. */
  readonly quiet?: boolean;
  /** False with `--no-install`. */
  readonly install?: boolean;
  readonly allow: readonly string[];
  readonly expect?: string;
  readonly proof?: ProofScope;
};

/** The input of a verb's action. */
export type Invocation = {
  readonly root: string;
  readonly cwd: string;
  readonly options: GlobalOptions;
  readonly ui: Ui;
  /** Aborted by Ctrl-C and its like. */
  readonly signal: AbortSignal;
  /** The programs beside the engine; null where it is alone. */
  readonly additions: Additions | null;
};

/** Runs a verb and prints its result. */
export type RunVerb = (
  verb: string,
  work: (invocation: Invocation) => Promise<CliResult | DiscoveredResult>,
) => Promise<void>;

/** Defines a verb on the command line. */
type DefineVerb = (program: Command, run: RunVerb) => void;

/** Verbs by their names. */
export type Verbs = Readonly<Record<string, DefineVerb>>;
