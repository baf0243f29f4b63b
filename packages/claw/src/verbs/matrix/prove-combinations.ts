import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import pLimit, { type LimitFunction } from 'p-limit';
import { ClawError } from '../../errors.ts';
import { readTreeFile } from '../../installed/disk.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext } from '../../operation/context.ts';
import { dependenciesOf } from '../../operation/npm/npm.ts';
import { allowedScripts, isOwnProject, npmSettings } from '../../operation/npm/npm-scripts.ts';
import { testsOf } from '../../operation/prove-plan.ts';
import { tidyUp } from '../../pending/pending.ts';
import { installPackages } from '../../proof/npm/packages.ts';
import type { Proof } from '../../proof/proof.ts';
import { prove } from '../../proof/prove.ts';
import { failureText } from '../../proof/test-selection/failing-tests.ts';
import { layOutView, sweepViews } from '../../proof/view.ts';
import {
  type CellFailure,
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
 * Proves what composed and has something to prove it: checks, or tests of the code or of its layers.
 *
 * @throws ClawError INTERRUPTED
 */
export async function proveEntries(
  context: EngineContext,
  input: MatrixInput,
  work: { readonly entries: readonly Entry[]; readonly jobs: number },
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
  const leave = rememberFolders(context.root);
  try {
    const warnings = await proveAll(context, input, { trials, jobs: work.jobs });
    context.onProgress({ kind: 'done', text: `Proved ${countOf(sets.size)}` });
    return { byLayers, warnings };
  } finally {
    tidyUp(leave);
  }
}

function verdictText({ failures: [failure], ms }: Verdict): string {
  const seconds = (ms / 1000).toFixed(1);
  return failure === undefined ? `good, ${seconds} s` : `${failure.name} fails, ${seconds} s`;
}

function countOf(count: number): string {
  return count === 1 ? '1 composition' : `${count} compositions`;
}

/**
 * Remembers which folders are absent now, so that proofs, whose views are in `.claw/tx`, leave none behind.
 */
function rememberFolders(root: string): () => void {
  const fresh = ['.claw/tx', '.claw']
    .map((path) => join(root, path))
    .filter((path) => !existsSync(path));
  return () => {
    for (const path of fresh) if (existsSync(path)) rmdirSync(path);
  };
}

/** A composition to be tried; `done` is told what came of it. */
type Trial = {
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
async function proveAll(
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

/** Packages that a proof runs with: absolute, or null for those of the project itself. */
type InstalledPackages = {
  readonly nodeModules: string | null;
  readonly remove: () => void;
};

/** Returns the part of a tree's `package.json` by which trees can share packages. */
function packageKey(tree: ReadonlyMap<string, TreeFile | null>): string {
  return dependenciesOf(tree.get('package.json') ?? null);
}

/**
 * Installs the packages of a tree beside the project, where the project's own are others. npm starts
 * from the core's lock, else from the present one.
 *
 * @throws ClawError NPM_FAILED with npm's last lines in `data.output`; INTERRUPTED
 */
async function installForTree(
  { root, allow, environment, signal }: EngineContext,
  core: Tree,
  packageJson: TreeFile | null,
): Promise<InstalledPackages> {
  const own = { nodeModules: null, remove: () => {} };
  if (packageJson === null || isServed(root, packageJson)) return own;
  const lock = core.get('package-lock.json') ?? readTreeFile(root, 'package-lock.json');
  const view = layOutView(root, {
    paths: [],
    changed: new Map([
      ['package.json', packageJson],
      ['.npmrc', npmSettings(root).file],
    ]),
    tests: [],
  });
  try {
    const installed = await installPackages({
      root,
      view: view.path,
      lock: lock?.bytes ?? null,
      allowScripts: allowedScripts(allow),
      isTrusted: isOwnProject(root),
      environment,
      signal,
    });
    return { nodeModules: installed.nodeModules, remove: view.remove };
  } catch (error) {
    view.remove();
    throw error;
  }
}

function isServed(root: string, wanted: TreeFile): boolean {
  const key = dependenciesOf(wanted);
  if (key === dependenciesOf(null)) return true;
  const isSame = key === dependenciesOf(readTreeFile(root, 'package.json'));
  return isSame && existsSync(join(root, 'node_modules'));
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
