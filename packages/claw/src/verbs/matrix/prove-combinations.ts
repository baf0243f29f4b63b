import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { ClawError } from '../../errors.ts';
import { readTreeFile } from '../../installed/disk.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext } from '../../operation/context.ts';
import { openJobRunner, packagesKey } from '../../operation/job-runner.ts';
import { allowedScripts } from '../../operation/npm/npm-scripts.ts';
import type { ProofRunner } from '../../operation/proof-runner.ts';
import { testsOf } from '../../operation/prove-plan.ts';
import { tidyUp } from '../../pending/pending.ts';
import type { JobVerdict, ProofJob } from '../../proof/proof-job.ts';
import { sweepViews } from '../../proof/view.ts';
import {
  type ComposedEntry,
  type Entry,
  isComposed,
  layersKey,
  type Verdict,
} from './combination.ts';
import type { MatrixInput } from './input.ts';

/** The results of the proofs, by the key of the layers. */
export type Verdicts = {
  readonly byLayers: ReadonlyMap<string, Verdict>;
  readonly warnings: readonly string[];
};

/**
 * Proves the compositions that have checks, or tests of the code or of their layers.
 *
 * @throws ClawError INTERRUPTED
 */
export async function proveEntries(
  context: EngineContext,
  input: MatrixInput,
  work: { readonly entries: readonly Entry[]; readonly runner: ProofRunner },
): Promise<Verdicts> {
  const { check, related } = input.installation.config;
  const isProvable = ({ layers }: ComposedEntry) =>
    check.length > 0 || related !== null || layers.some(({ manifest }) => manifest.test.length > 0);
  const sets = new Map<string, ComposedEntry>();
  for (const { composed } of work.entries) {
    if (isComposed(composed) && isProvable(composed)) sets.set(layersKey(composed), composed);
  }
  const byLayers = new Map<string, Verdict>();
  if (sets.size === 0) return { byLayers, warnings: [] };
  const trials = [...sets].map(([key, composed]) => ({
    composed,
    done: (verdict: Verdict) => {
      byLayers.set(key, verdict);
      const text = `${byLayers.size}/${sets.size} ${key}: ${verdictText(verdict)}`;
      context.onProgress({ kind: 'note', text });
    },
  }));
  context.onProgress({ kind: 'step', text: `Proving ${countOf(sets.size)}` });
  const warnings = await proveAll(context, input, { trials, runner: work.runner });
  context.onProgress({ kind: 'done', text: `Proved ${countOf(sets.size)}` });
  return { byLayers, warnings };
}

function verdictText({ failures: [failure], ms }: Verdict): string {
  const seconds = (ms / 1000).toFixed(1);
  return failure === undefined ? `good, ${seconds} s` : `${failure.name} fails, ${seconds} s`;
}

function countOf(count: number): string {
  return count === 1 ? '1 composition' : `${count} compositions`;
}

/** Proves, and removes the folders that were absent before: views are in `.claw/tx`. */
export async function leavingNothing<T>(root: string, work: () => Promise<T>): Promise<T> {
  const fresh = ['.claw/tx', '.claw']
    .map((path) => join(root, path))
    .filter((path) => !existsSync(path));
  try {
    return await work();
  } finally {
    tidyUp(() => {
      for (const path of fresh) if (existsSync(path)) rmdirSync(path);
    });
  }
}

/** A composition to be tried; `done` is told what came of it. */
type Trial = {
  readonly composed: ComposedEntry;
  readonly done: (verdict: Verdict) => void;
};

/**
 * Proves each composition: on other machines where a runner was given, else beside the project, a few at a time.
 *
 * @returns warnings: checks that the core alone fails as well, commands that could not be fenced in
 * @throws ClawError INTERRUPTED
 */
async function proveAll(
  context: EngineContext,
  input: MatrixInput,
  work: { readonly trials: readonly Trial[]; readonly runner: ProofRunner },
): Promise<readonly string[]> {
  const trials = work.trials
    .map(({ composed, done }) => ({ job: jobOf(context, input, composed), done }))
    // What needs the same packages follows each other, and shares one installation of them.
    .sort((one, other) => (packagesKey(one.job) < packagesKey(other.job) ? -1 : 1));
  const warnings = new Set<string>();
  const jobs = trials.map(({ job }) => job);
  await work.runner.prove(jobs, (at, { failures, warnings: found, ms }) => {
    for (const warning of found) warnings.add(warning);
    trials[at]?.done({ failures, ms });
  });
  return [...warnings];
}

/** Returns what a proof of a composition depends on. npm starts from the core's lock, else from the present one. */
function jobOf(
  { root, proof }: EngineContext,
  { files, installation }: MatrixInput,
  { layers, composition }: ComposedEntry,
): ProofJob {
  const { config, pathMaps } = installation;
  const changed = new Map([...composition.files].map(([path, { file }]) => [path, file] as const));
  const planned = (path: string) => (changed.has(path) ? changed.get(path) : files.get(path));
  const tested = { pathMaps, has: (path: string) => (planned(path) ?? null) !== null };
  return {
    core: files,
    changed,
    tests: layers.map((layer) => testsOf(layer, tested)),
    lock:
      (files.get('package-lock.json') ?? readTreeFile(root, 'package-lock.json'))?.bytes ?? null,
    checks: config.check,
    testCommand: config.test,
    own: config.related,
    scope: proof ?? 'related',
  };
}

/** Opens the runner of this machine, with a limit on simultaneous proofs and installations. */
export function openLocalRunner(context: EngineContext, jobs: number): ProofRunner {
  const { root, environment, allow, signal: asked } = context;
  const fault = new AbortController();
  const signal = asked ? AbortSignal.any([asked, fault.signal]) : fault.signal;
  sweepViews(root);
  const allowScripts = allowedScripts(allow);
  const runner = openJobRunner({ root, environment, allowScripts, signal });
  const slots = pLimit(jobs);
  return {
    async prove(all, onVerdict) {
      const runs = all.map((job, at) =>
        slots(async () => onVerdict(at, await runner.run(job, signal))).catch((error: unknown) => {
          fault.abort();
          throw error;
        }),
      );
      // Nothing is left running, and nothing laid out, when the first fault is told.
      const outcomes = await Promise.allSettled(runs);
      throwIfInterrupted(asked);
      const isOwn = (reason: unknown) =>
        !(reason instanceof ClawError && reason.code === 'INTERRUPTED');
      const faults = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (faults.length > 0) throw faults.find(isOwn) ?? faults[0];
    },
    takeWithdrawn: () => false,
    async close() {
      await runner.close();
      return [];
    },
  };
}

/** Proves one job with a runner. */
export async function proveOne(runner: ProofRunner, job: ProofJob): Promise<JobVerdict> {
  const verdicts: JobVerdict[] = [];
  await runner.prove([job], (_, verdict) => void verdicts.push(verdict));
  const verdict = verdicts.at(-1);
  if (verdict === undefined) throw new Error('a runner ended without a verdict');
  return verdict;
}
