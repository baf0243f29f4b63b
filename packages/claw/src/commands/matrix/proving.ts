import type { TreeFile } from '@patchclaw/merge';
import pLimit, { type LimitFunction } from 'p-limit';
import { ClawError } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext } from '../../operation/context.ts';
import { testsOf } from '../../operation/proof/proving.ts';
import type { Proof } from '../../proof/proof.ts';
import { prove } from '../../proof/prove.ts';
import { failureText } from '../../proof/tests/failing-tests.ts';
import { sweepViews } from '../../proof/view.ts';
import type { CellFailure } from './cell.ts';
import type { ComposedEntry, Verdict } from './entry.ts';
import type { MatrixInput } from './input.ts';
import { type InstalledPackages, installForTree, packageKey } from './packages.ts';

/** A composition to be tried; `done` is told what came of it. */
export type Trial = {
  readonly composed: ComposedEntry;
  readonly done: (verdict: Verdict) => void;
};

type Bench = {
  readonly context: EngineContext;
  readonly input: MatrixInput;
  readonly slots: LimitFunction;
  readonly warnings: Set<string>;
};

/**
 * Lays each composition out beside the project and runs its checks and the tests of its layers there,
 * a few at a time. What needs the same packages shares one installation of them, which is gone before
 * another one takes its place.
 *
 * @returns warnings: checks that the core alone fails as well, commands that could not be fenced in
 * @throws ClawError INTERRUPTED
 */
export async function proveAll(
  context: EngineContext,
  input: MatrixInput,
  options: { readonly trials: readonly Trial[]; readonly jobs: number },
): Promise<readonly string[]> {
  const fault = new AbortController();
  const { signal: asked } = context;
  const signal = asked ? AbortSignal.any([asked, fault.signal]) : fault.signal;
  const bench: Bench = {
    context: { ...context, signal },
    input,
    slots: pLimit(options.jobs),
    warnings: new Set(),
  };
  sweepViews(context.root);
  const room = pLimit(options.jobs);
  const groups = [...byPackages(input, options.trials).values()];
  const runs = groups.map((trials) =>
    room(() => proveGroup(bench, trials)).catch((error: unknown) => {
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
  return [...bench.warnings];
}

function byPackages(
  input: MatrixInput,
  trials: readonly Trial[],
): ReadonlyMap<string, readonly Trial[]> {
  const groups = new Map<string, Trial[]>();
  for (const trial of trials) {
    const key = packageKey(treeOf(input, trial.composed));
    groups.set(key, [...(groups.get(key) ?? []), trial]);
  }
  return groups;
}

async function proveGroup(bench: Bench, trials: readonly Trial[]): Promise<void> {
  const { context, input, slots } = bench;
  const [first] = trials;
  if (first === undefined) return;
  const packageJson = treeOf(input, first.composed).get('package.json') ?? null;
  const stocked = await slots(() => stock(context, input, packageJson));
  if ('failure' in stocked) {
    for (const { done } of trials) done({ failures: [stocked.failure], ms: 0 });
    return;
  }
  try {
    // Every one of them ends before the packages go, whatever becomes of another.
    const runs = await Promise.allSettled(
      trials.map((trial) => slots(() => proveOne(bench, trial, stocked))),
    );
    for (const run of runs) if (run.status === 'rejected') throw run.reason;
  } finally {
    stocked.remove();
  }
}

async function stock(
  context: EngineContext,
  input: MatrixInput,
  packageJson: TreeFile | null,
): Promise<InstalledPackages | { readonly failure: CellFailure }> {
  throwIfInterrupted(context.signal);
  try {
    return await installForTree(context, input.files, packageJson);
  } catch (error) {
    if (!(error instanceof ClawError && error.code === 'NPM_FAILED')) throw error;
    const output = String(error.data['output'] ?? error.message);
    return { failure: { kind: 'npm', name: 'npm install', text: failureText(output), output } };
  }
}

async function proveOne(
  bench: Bench,
  trial: Trial,
  { nodeModules }: InstalledPackages,
): Promise<void> {
  const { context, input, warnings } = bench;
  throwIfInterrupted(context.signal);
  const { layers } = trial.composed;
  const { config } = input.installation;
  const started = performance.now();
  const changed = treeOf(input, trial.composed);
  const tested = {
    pathMaps: input.installation.pathMaps,
    has: (path: string) => (changed.get(path) ?? null) !== null,
  };
  const proof: Proof = await prove({
    root: context.root,
    paths: [],
    changed,
    tests: layers.map((layer) => testsOf(layer, tested)),
    presentTests: [],
    compared: { files: input.files, nodeModules },
    checks: config.check,
    testCommand: config.test,
    own: config.related,
    scope: context.proof ?? 'related',
    nodeModules,
    environment: context.environment,
    signal: context.signal,
  });
  for (const warning of proof.warnings) warnings.add(warning);
  const failures = proof.failures.map(({ kind, name, text, output }) => ({
    kind,
    name,
    text,
    output,
  }));
  trial.done({ failures, ms: performance.now() - started });
}

function treeOf(
  { files }: MatrixInput,
  { composition }: ComposedEntry,
): Map<string, TreeFile | null> {
  const composed = [...composition.files].map(([path, { file }]) => [path, file] as const);
  return new Map<string, TreeFile | null>([...files, ...composed]);
}
