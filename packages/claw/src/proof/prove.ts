import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { findBubblewrap } from './bubblewrap.ts';
import type { Proof, ProofFailure, ProofFindings, ProofInput } from './proof.ts';
import { proofFiles } from './proof-files.ts';
import { failsAsBefore, failureOf } from './report.ts';
import { shownCommand } from './shell-command.ts';
import { proveLayers } from './test-selection/layer-tests.ts';
import { chooseOwn, proveOwn } from './test-selection/own-tests.ts';
import { AlreadyCertain, failedBefore, Trial, type Trials } from './trial.ts';
import { sweepViews } from './view.ts';

/**
 * Tries a planned tree where it can do no harm: its checks, the tests of its layers in one run, then tests of
 * the codebase itself.
 *
 * A failure that the present tree has as well is a warning, so that a broken tree can be repaired. A check
 * that comes with the change is not excused by a tree that does not have it. Where the codebase says that they need
 * nothing of each other, checks and layers are tried at the same time.
 *
 * With a memory it runs only what has not passed on the very same files. The first certain failure ends everything
 * that still runs.
 *
 * @throws ClawError INTERRUPTED
 */
export async function prove(input: ProofInput): Promise<Proof> {
  sweepViews(input.root);
  if (input.logFolder)
    rmSync(resolve(input.root, input.logFolder), { recursive: true, force: true });
  const certain = new AbortController();
  const trials = openTrials(input, certain.signal);
  // At the same time each has copies of its own: what a test leaves there is not to be trusted.
  const checking = input.isParallel === true ? openTrials(input, certain.signal) : trials;
  // One failure decides: nothing else has to run then.
  const until = async <T extends ProofFindings>(work: () => Promise<T>, none: T): Promise<T> => {
    try {
      const found = await work();
      if (found.failures.length > 0) certain.abort();
      return found;
    } catch (error) {
      if (error instanceof AlreadyCertain) return none;
      throw error;
    }
  };
  // Is tried, and tests are chosen, while this process would only wait.
  void findBubblewrap(input.environment['PATH'] ?? '');
  const choosing = chooseOwn(input, trials.files);
  choosing.catch(() => null); // Is thrown where the choice is needed.
  try {
    const [checked, layers] = await inTurn(input.isParallel === true, [
      () => until(() => proveChecks(input, checking), NOTHING_FOUND),
      () => until(() => proveLayers(input, trials), { ...NOTHING_FOUND, reused: 0 }),
    ]);
    const isSound = checked.failures.length + layers.failures.length === 0;
    const own = isSound
      ? await proveOwn(input, trials, await choosing)
      : { failures: [], warnings: [], ran: 0, note: null };
    const failures = [...checked.failures, ...layers.failures, ...own.failures];
    const warnings = [
      ...new Set([...checking.planned.warnings, ...trials.planned.warnings]),
      ...checked.warnings,
      ...layers.warnings,
      ...own.warnings,
    ];
    const { ran, note } = own;
    const ok = failures.length === 0;
    return { ok, failures, warnings, reused: layers.reused, own: ran, note };
  } finally {
    await Promise.allSettled([choosing]);
    for (const { planned, present } of new Set([checking, trials])) {
      planned.remove();
      present.remove();
    }
  }
}

const NOTHING_FOUND: ProofFindings = { failures: [], warnings: [] };

function openTrials(input: ProofInput, certain: AbortSignal): Trials {
  return {
    planned: new Trial(input, 'planned', certain),
    present: new Trial(input, 'present', certain),
    files: proofFiles(input),
  };
}

/**
 * Runs two, one after the other, or at the same time: then the second, which takes longer, begins first. Where one
 * fails, waits for the other before it throws.
 */
async function inTurn<A, B>(
  isParallel: boolean,
  [first, second]: readonly [() => Promise<A>, () => Promise<B>],
): Promise<readonly [A, B]> {
  if (!isParallel) return [await first(), await second()];
  const later = second();
  later.catch(() => null); // Is thrown below.
  await setImmediate(); // Its tree is laid out by now, so that its program starts before the other tree is.
  const both = [first(), later] as const;
  await Promise.allSettled(both);
  return [await both[0], await both[1]];
}

async function proveChecks(
  input: ProofInput,
  { planned, present }: Trials,
): Promise<ProofFindings> {
  const failures: ProofFailure[] = [];
  const warnings: string[] = [];
  for (const line of input.checks) {
    const name = shownCommand(line);
    const command = { told: `check: ${name}`, line };
    const run = await planned.run(command);
    if (run.isOk) continue;
    const isKnown = (input.present ?? input).checks.includes(line);
    const before = isKnown ? await present.run(command) : null;
    if (before !== null && failedBefore(run, before)) {
      warnings.push(failsAsBefore(input, name, run));
    } else {
      failures.push(failureOf(input, { kind: 'check', name }, run, before));
      break;
    }
  }
  // Before any test runs in this copy of the tree.
  if (failures.length === 0) input.memory?.writeKept(planned.keptFiles(input.keep ?? []));
  return { failures, warnings };
}
