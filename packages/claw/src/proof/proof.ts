import type { TreeFile } from '@patchclaw/merge';
import type { ProofLimits } from '../installed/config.ts';
import type { StopLimit } from './limits.ts';
import type { ProofMemory } from './remembered-passes.ts';
import type { Environment } from './sandboxed.ts';
import type { FailingTest } from './test-selection/failing-tests.ts';
import type { LayerTests } from './view.ts';

/** The tests that a codebase has of its own, from its configuration. */
export type OwnTests = {
  /** Globs of the test files. */
  readonly tests: readonly string[];
  /** Globs of those that cannot run in a view. */
  readonly except: readonly string[];
  /** The command that test files are handed to; one with `{changed}` finds them by the changed files. */
  readonly command: string;
  /** The limit of seconds for all of them together. */
  readonly seconds: number;
  /** The limit of files that run. */
  readonly most: number;
};

/** The tests to run: only those of the layers, also those of the codebase that a change concerns, or all. */
export type ProofScope = 'skills' | 'related' | 'all';

export type ProofInput = {
  readonly root: string;
  /** Every file of the present tree, relative to the root. */
  readonly paths: readonly string[];
  /** The changes of the planned tree; null for a file that goes. */
  readonly changed: ReadonlyMap<string, TreeFile | null>;
  /** Tests of all layers of the planned tree, and of the present one. */
  readonly tests: readonly LayerTests[];
  readonly presentTests: readonly LayerTests[];
  /** The present tree and its packages, where they are not those on disk. */
  readonly compared?: {
    readonly files: ReadonlyMap<string, TreeFile | null>;
    readonly nodeModules: string | null;
  };
  /** Commands that prove a tree, from the configuration. */
  readonly checks: readonly string[];
  /** The command that test files are handed to; null for `node --test`. */
  readonly testCommand: string | null;
  /** The codebase's own tests, and which of them run; by default none. */
  readonly own?: OwnTests | null;
  readonly scope?: ProofScope;
  /** The settings for proving the present tree, where the planned one brings others. */
  readonly present?: Pick<ProofInput, 'checks' | 'testCommand'>;
  /** Packages prepared for the planned tree, absolute; null where the project's own will do. */
  readonly nodeModules: string | null;
  /** Results of earlier proofs, so that only affected checks and tests run; null for a proof from scratch. */
  readonly memory?: ProofMemory | null;
  /** Checks and the layers' tests run at the same time, each in copies of their own; by default one after the other. */
  readonly isParallel?: boolean;
  /** Files of a view that checks leave for the next proof. */
  readonly keep?: readonly string[];
  /** The folder for whole outputs of failed commands, relative to the root or absolute; null for none. */
  readonly logFolder?: string | null;
  readonly environment: Environment;
  /** Ends the proof, with INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
  /** For each command; by default those of `DEFAULT_LIMITS`. */
  readonly limits?: ProofLimits;
  readonly onProgress?: (progress: ProofProgress) => void;
};

/** A step of a proof that starts or ends; others may run beside it. A step is known by its text. */
export type ProofProgress =
  | { readonly kind: 'started'; readonly text: string }
  | {
      readonly kind: 'ended';
      readonly text: string;
      /** `stopped`: its time was over, or another step had made the result certain. */
      readonly outcome: 'passed' | 'failed' | 'stopped';
    }
  /** What the step of this text printed meanwhile: plain text, paths relative to the tree. */
  | { readonly kind: 'output'; readonly text: string; readonly output: string }
  | { readonly kind: 'note'; readonly text: string };

export type ProofFailure = {
  /** `own`: tests of the codebase itself. */
  readonly kind: 'check' | 'test' | 'own';
  /** The check's command line, or the skill whose tests fail. */
  readonly name: string;
  /** The failure, in a few lines. */
  readonly text: string;
  /** The failing tests, where the runner names them. */
  readonly tests: readonly FailingTest[];
  /** The end of what the command printed. */
  readonly output: string;
  /** The limit at which the command was stopped; null where it ended by itself. */
  readonly stop: StopLimit | null;
  /** The file with the whole output, relative to the root or absolute; null where it is not kept. */
  readonly log: string | null;
};

export type Proof = {
  readonly ok: boolean;
  readonly failures: readonly ProofFailure[];
  readonly warnings: readonly string[];
  /** Test files of layers that need not run: they passed before, on the same files. */
  readonly reused: number;
  /** Test files of the codebase itself that ran or passed before. */
  readonly own: number;
  /** A note on tests that did not run, with the reason; null where all did. */
  readonly note: string | null;
};

/** The findings of one part of a proof. */
export type ProofFindings = {
  readonly failures: readonly ProofFailure[];
  readonly warnings: readonly string[];
};
