import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { readTreeFile } from '../installed/disk.ts';
import { throwIfInterrupted } from '../interrupted.ts';
import { installPackages } from '../proof/npm/packages.ts';
import type { JobFailure, JobVerdict, ProofJob } from '../proof/proof-job.ts';
import { prove } from '../proof/prove.ts';
import type { Environment } from '../proof/sandboxed.ts';
import { failureText } from '../proof/test-selection/failing-tests.ts';
import { layOutView } from '../proof/view.ts';
import { dependenciesOf } from './npm/npm.ts';
import { isOwnProject, npmSettings } from './npm/npm-scripts.ts';

/** The places on disk with which jobs run. */
export type JobPlace = {
  /** Absolute path of a project: views are laid out beside it, and its packages serve where they are the job's. */
  readonly root: string;
  readonly environment: Environment;
  /**
   * The owner's word for install scripts of packages, by name. Null on a machine where nobody gave any: there none
   * runs, and a job that needs one is refused.
   */
  readonly allowScripts: readonly string[] | null;
  /** Ends installations, which no single job may end. */
  readonly signal?: AbortSignal | undefined;
};

/** Runs jobs, several at a time; those that need the same packages share one installation of them. */
export type JobRunner = {
  /**
   * @throws ClawError INTERRUPTED; CONSENT_NEEDED where packages need install scripts that nobody allowed here
   */
  run(job: ProofJob, signal: AbortSignal | undefined): Promise<JobVerdict>;
  /** Removes the packages that were installed. Called when nothing runs any more. */
  close(): Promise<void>;
};

/** Packages that a proof runs with: absolute, or null for those of the project itself. */
type Stock = {
  readonly nodeModules: string | null;
  readonly remove: () => void;
};

/** An installation, and the number of jobs that use it. */
type Shared = { users: number; readonly stock: Promise<Stock | { readonly failure: JobFailure }> };

/**
 * Opens the runner for jobs beside a project. Installed packages are removed when others are needed and nobody uses
 * them.
 */
export function openJobRunner(place: JobPlace): JobRunner {
  const installed = new Map<string, Shared>();

  async function remove([key, { stock }]: readonly [string, Shared]): Promise<void> {
    installed.delete(key);
    const found = await stock.catch(() => null);
    if (found !== null && 'remove' in found) found.remove();
  }

  async function take(job: ProofJob): Promise<Shared> {
    const packageJson = plannedFile(job, 'package.json');
    const key = `${dependenciesOf(packageJson)}\n${job.lock?.toString('latin1') ?? ''}`;
    const known = installed.get(key);
    const shared = known ?? { users: 0, stock: stockFor(place, job, packageJson) };
    shared.stock.catch(() => {}); // Is thrown where it is used.
    shared.users += 1;
    installed.set(key, shared);
    if (known === undefined) {
      await Promise.all([...installed].filter(([, { users }]) => users === 0).map(remove));
    }
    return shared;
  }

  return {
    async run(job, signal) {
      throwIfInterrupted(signal);
      const shared = await take(job);
      try {
        const stock = await shared.stock;
        if ('failure' in stock) return { failures: [stock.failure], warnings: [], ms: 0 };
        throwIfInterrupted(signal);
        return await proveJob(place, job, stock.nodeModules, signal);
      } finally {
        shared.users -= 1;
      }
    },
    close: async () => void (await Promise.all([...installed].map(remove))),
  };
}

/** Returns the key by which jobs share packages; jobs that follow each other in this order install least. */
export function packagesKey(job: ProofJob): string {
  return dependenciesOf(plannedFile(job, 'package.json'));
}

function plannedFile({ core, changed }: ProofJob, path: string): TreeFile | null {
  return changed.has(path) ? (changed.get(path) ?? null) : (core.get(path) ?? null);
}

/**
 * Installs the packages of a tree beside the project, where the project's own are others. npm starts from the job's
 * lock. It is not ended with one job, since others wait for it.
 *
 * @throws ClawError CONSENT_NEEDED
 */
async function stockFor(
  place: JobPlace,
  { lock }: ProofJob,
  packageJson: TreeFile | null,
): Promise<Stock | { readonly failure: JobFailure }> {
  const { root, environment, allowScripts, signal } = place;
  if (isServed(place, lock, packageJson)) return { nodeModules: null, remove: () => {} };
  if (packageJson === null || !hasDependencies(packageJson)) return withoutPackages(root);
  const view = layOutView(root, {
    paths: [],
    changed: new Map([
      ['package.json', packageJson],
      ['.npmrc', npmSettings(root).file],
    ]),
    tests: [],
  });
  try {
    const { nodeModules, unapproved } = await installPackages({
      root,
      view: view.path,
      lock,
      allowScripts: allowScripts ?? [],
      isTrusted: allowScripts !== null && isOwnProject(root),
      environment,
      signal,
    });
    const [scripted] = unapproved;
    if (allowScripts === null && scripted !== undefined) {
      const message = `${scripted.name} has an install script, and none runs here.`;
      throw new ClawError('CONSENT_NEEDED', message);
    }
    return { nodeModules, remove: view.remove };
  } catch (error) {
    view.remove();
    if (!(error instanceof ClawError && error.code === 'NPM_FAILED')) throw error;
    const output = String(error.data['output'] ?? error.message);
    return { failure: { kind: 'npm', name: 'npm install', text: failureText(output), output } };
  }
}

/** Tells whether the project's own packages are those of a tree. Another machine's are only where the lock is the same. */
function isServed(
  { root, allowScripts }: JobPlace,
  lock: Buffer | null,
  wanted: TreeFile | null,
): boolean {
  const isHere = allowScripts !== null;
  if (wanted === null || !hasDependencies(wanted)) return isHere;
  if (dependenciesOf(wanted) !== dependenciesOf(readTreeFile(root, 'package.json'))) return false;
  const isSameLock = lock !== null && readTreeFile(root, 'package-lock.json')?.bytes.equals(lock);
  return existsSync(join(root, 'node_modules')) && (isHere || isSameLock === true);
}

function hasDependencies(packageJson: TreeFile): boolean {
  return dependenciesOf(packageJson) !== dependenciesOf(null);
}

/** A tree that needs no packages must not find those of the machine's own project. */
function withoutPackages(root: string): Stock {
  const view = layOutView(root, { paths: [], changed: new Map(), tests: [] });
  const nodeModules = join(view.path, 'node_modules');
  mkdirSync(nodeModules);
  return { nodeModules, remove: view.remove };
}

async function proveJob(
  { root, environment }: JobPlace,
  job: ProofJob,
  nodeModules: string | null,
  signal: AbortSignal | undefined,
): Promise<JobVerdict> {
  const started = performance.now();
  const { core, changed, tests, checks, testCommand, own, scope } = job;
  const proof = await prove({
    root,
    paths: [],
    changed: new Map<string, TreeFile | null>([...core, ...changed]),
    tests,
    presentTests: [],
    compared: { files: core, nodeModules },
    checks,
    testCommand,
    own,
    scope,
    nodeModules,
    environment,
    signal,
  });
  const failures = proof.failures.map(({ kind, name, text, output }) => ({
    ...{ kind, name, text, output },
  }));
  return { failures, warnings: proof.warnings, ms: performance.now() - started };
}
