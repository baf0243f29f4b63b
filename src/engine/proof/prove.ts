import { rmSync } from 'node:fs';
import type { TreeFile } from '../tree.ts';
import type { ProofMemory } from './memory.ts';
import { proofFiles } from './proof-files.ts';
import { failsAsBefore, failureOf } from './report.ts';
import type { Environment } from './sandboxed.ts';
import type { FailingTest } from './tests/failing-tests.ts';
import { proveLayers } from './tests/layer-tests.ts';
import { type OwnTests, type ProofScope, proveOwn } from './tests/own-tests.ts';
import { failedBefore, Trial, type Trials } from './trial.ts';
import { type LayerTests, sweepViews } from './view.ts';

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
  /** Files of a view that checks leave for the next proof. */
  readonly keep?: readonly string[];
  /** The folder for whole outputs of failed commands, relative to the root; null for none. */
  readonly logFolder?: string | null;
  readonly environment: Environment;
  /** Ends the proof, with INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
  /** For each command; 120 s by default. */
  readonly timeoutMs?: number;
  readonly onProgress?: (line: string) => void;
};

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
  /** The file with the whole output, relative to the root; null where it is not kept. */
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
export type Found = {
  readonly failures: readonly ProofFailure[];
  readonly warnings: readonly string[];
};

/**
 * Tries a planned tree where it can do no harm: its checks, the tests of its layers in one run, then tests of
 * the codebase itself.
 *
 * A failure that the present tree has as well is a warning, so that a broken tree can be repaired. A check
 * that comes with the change is not excused by a tree that does not have it.
 *
 * With a memory it runs only what has not passed on the very same files.
 *
 * @throws ClawError INTERRUPTED
 */
export async function prove(input: ProofInput): Promise<Proof> {
  sweepViews(input.root);
  if (input.logFolder) rmSync(`${input.root}/${input.logFolder}`, { recursive: true, force: true });
  const trials = {
    planned: new Trial(input, 'planned'),
    present: new Trial(input, 'present'),
    files: proofFiles(input),
  };
  try {
    const checked = await proveChecks(input, trials);
    // Kept before any test runs: what a test leaves in the view is not to be trusted.
    if (checked.failures.length === 0) {
      input.memory?.writeKept(trials.planned.keptFiles(input.keep ?? []));
    }
    const layers = await proveLayers(input, trials);
    const isSound = checked.failures.length + layers.failures.length === 0;
    const own = isSound
      ? await proveOwn(input, trials)
      : { failures: [], warnings: [], ran: 0, note: null };
    const failures = [...checked.failures, ...layers.failures, ...own.failures];
    const warnings = [
      ...trials.planned.warnings,
      ...checked.warnings,
      ...layers.warnings,
      ...own.warnings,
    ];
    const { ran, note } = own;
    const ok = failures.length === 0;
    return { ok, failures, warnings, reused: layers.reused, own: ran, note };
  } finally {
    trials.planned.remove();
    trials.present.remove();
  }
}

async function proveChecks(input: ProofInput, { planned, present }: Trials): Promise<Found> {
  const failures: ProofFailure[] = [];
  const warnings: string[] = [];
  for (const line of input.checks) {
    const command = { told: `check: ${line}`, line };
    const run = await planned.run(command);
    if (run.isOk) continue;
    const isKnown = (input.present ?? input).checks.includes(line);
    if (isKnown && failedBefore(run, await present.run(command)))
      warnings.push(failsAsBefore(line));
    else failures.push(failureOf(input, { kind: 'check', name: line }, run));
  }
  return { failures, warnings };
}
