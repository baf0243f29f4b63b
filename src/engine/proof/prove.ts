import { rmSync } from 'node:fs';
import type { Found, Proof, ProofFailure, ProofInput } from './proof.ts';
import { proofFiles } from './proof-files.ts';
import { failsAsBefore, failureOf } from './report.ts';
import { proveLayers } from './tests/layer-tests.ts';
import { proveOwn } from './tests/own-tests.ts';
import { failedBefore, Trial, type Trials } from './trial.ts';
import { sweepViews } from './view.ts';

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
    const before = isKnown ? await present.run(command) : null;
    if (before !== null && failedBefore(run, before)) {
      warnings.push(failsAsBefore(input, line, run));
    } else failures.push(failureOf(input, { kind: 'check', name: line }, run, before));
  }
  return { failures, warnings };
}
