import type { Command } from 'commander';
import type {
  CodeFacts,
  EngineContext,
  ModelPrompt,
  ModelReply,
  ProofScope,
  VerbResult,
} from '../verbs.ts';
import type { CliResult, DiscoveredResult } from './result.ts';
import type { Ui } from './ui.ts';

/** The options that every verb takes. */
export type GlobalOptions = {
  readonly json?: boolean;
  readonly cwd?: string;
  readonly yes?: boolean;
  /** Leaves out how far a verb is. */
  readonly quiet?: boolean;
  /** Progress is one JSON object a line. */
  readonly progress?: boolean;
  /** False with `--no-install`. */
  readonly install?: boolean;
  readonly allow: readonly string[];
  readonly expect?: string;
  readonly proof?: ProofScope;
};

/** Additions of a program beside the engine to the engine's verbs. */
export type Additions = {
  /** Adds to `claw status` what that program knows. */
  readonly status: (result: VerbResult<'status'>, root: string) => Promise<CliResult<'status'>>;
  /** Adds to the result of a verb that changed the tree. */
  readonly changed: (result: VerbResult, root: string) => Promise<VerbResult>;
  /** Looks at the code and at that program. */
  readonly doctor: (context: EngineContext, isOffline: boolean) => Promise<CliResult<'doctor'>>;
  /**
   * Saves that program's data before a proved change is published.
   *
   * @throws ClawError BACKUP_FAILED: then nothing is published
   */
  readonly beforePublish: (
    verb: string,
    place: {
      readonly root: string;
      readonly signal: AbortSignal;
      readonly onStep: (text: string) => void;
    },
  ) => Promise<void>;
  /**
   * Takes back a change of that program's own, such as an import, if it is newer than what the engine would undo.
   *
   * @param since when the newest command was committed, in milliseconds since the epoch; null for none
   * @returns null where there is none
   */
  readonly undo: (invocation: Invocation, since: number | null) => Promise<DiscoveredResult | null>;
  readonly hasModel: (root: string) => Promise<boolean>;
  /** Asks a model how a conflict is to be resolved. */
  readonly askModel: (
    prompt: ModelPrompt,
    place: { readonly root: string; readonly signal: AbortSignal },
  ) => Promise<ModelReply>;
  /**
   * Opens what runs proofs elsewhere.
   *
   * @throws ClawError USAGE where nothing of that name is there
   */
  readonly openProofRunner: NonNullable<EngineContext['openProofRunner']>;
  /** Loads what reads from the code of a package what its owner has to know. */
  readonly readCode: () => Promise<(path: string, text: string) => CodeFacts>;
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

/**
 * The part of `claw` that a program which embeds the engine adds: its own verbs, and additions to the engine's verbs.
 */
export type Beside = {
  readonly description: string;
  readonly verbs: Verbs;
  /** Defines verbs that are found in a folder. */
  readonly discover: (program: Command, run: RunVerb, args: readonly string[]) => Promise<void>;
  readonly additions: Additions;
};

/** A `claw`: its verbs, and what runs beside the engine. */
export type Edition = {
  readonly description: string;
  readonly version: string;
  readonly verbs: Verbs;
  readonly discover: Beside['discover'] | null;
  /** Null where the engine is alone. */
  readonly additions: Additions | null;
};
