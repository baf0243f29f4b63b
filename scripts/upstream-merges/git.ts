import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { EngineContext } from '../../packages/claw/src/index.ts';

/** Git's results for the commits on the newer release. */
export type GitCounts = {
  /** Files in conflict after one merge of everything. */
  readonly merge: number;
  /** The number of times that a rebase stops. */
  readonly stops: number;
  /** Commits that a rebase leaves out, because the release contains them. */
  readonly dropped: number;
  /** Commits that became skills but cannot be picked onto the older release. */
  readonly unpicked: number;
};

const IDENTITY = ['-c', 'user.name=upstream', '-c', 'user.email=upstream@localhost'];
const QUIET = ['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0'];
const MAX_STOPS = 10_000;

/** Clones a folder, without copying its objects, and checks out a commit. */
export function cloneAt(folder: string, root: string, ref: string): string {
  must(git('.', ['clone', '--quiet', '--shared', '--no-checkout', resolve(folder), root]));
  must(git(root, ['checkout', '--quiet', '--detach', ref]));
  return root;
}

/** Returns the commits that the newer release has and the older one has not, oldest first, merges apart. */
export function commitsBetween(root: string, from: string, to: string): readonly string[] {
  const range = ['rev-list', '--no-merges', '--reverse', '--topo-order', `${from}..${to}`];
  return linesOf(must(git(root, range)));
}

/** Returns the paths that a commit changed. */
export function pathsOf(root: string, commit: string): readonly string[] {
  return linesOf(must(git(root, ['diff', '--name-only', `${commit}^`, commit])));
}

/** Picks commits onto what is checked out, then merges and rebases them onto a newer release. */
export function mergeAndRebase(root: string, commits: readonly string[], to: string): GitCounts {
  const unpicked = commits.filter((commit) => {
    if (git(root, ['cherry-pick', '--allow-empty', commit]).status === 0) return false;
    must(git(root, ['cherry-pick', '--abort']));
    return true;
  }).length;
  const work = must(git(root, ['rev-parse', 'HEAD'])).trim();
  git(root, ['merge', '--no-edit', to]);
  const merge = unmerged(root);
  must(git(root, ['reset', '--quiet', '--hard', work]));
  const before = linesOf(must(git(root, ['rev-list', '--no-merges', `${to}..${work}`]))).length;
  const stops = countStops(root, to);
  const after = linesOf(must(git(root, ['rev-list', `${to}..HEAD`]))).length;
  return { merge, stops, dropped: before - after - stops, unpicked };
}

/** Skips each commit at which a rebase stops. */
function countStops(root: string, to: string): number {
  let run = git(root, ['rebase', to]);
  let stops = 0;
  while (run.status !== 0 && stops < MAX_STOPS) {
    stops++;
    run = git(root, ['rebase', '--skip']);
  }
  return stops;
}

function unmerged(root: string): number {
  return linesOf(must(git(root, ['diff', '--name-only', '--diff-filter=U']))).length;
}

type GitOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
};

/** Runs git without the settings of this machine; its texts are latin1, so that every byte survives. */
export function git(cwd: string, args: readonly string[], { environment, input }: GitOptions = {}) {
  const quiet = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return spawnSync('git', [...IDENTITY, ...QUIET, ...args], {
    cwd,
    encoding: 'latin1',
    env: { ...process.env, ...quiet, ...environment },
    maxBuffer: 1 << 28,
    ...(input === undefined ? {} : { input: Buffer.from(input, 'latin1') }),
  });
}

/** @throws Error where git failed */
export function must(run: ReturnType<typeof git>): string {
  if (run.status !== 0) throw new Error(`git failed: ${run.stderr}`);
  return run.stdout;
}

/** Returns the lines of what git printed. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Returns the surroundings of a verb in a clone: nothing is installed, and nobody is asked. */
export function contextOf(root: string): EngineContext {
  return {
    root,
    cwd: root,
    now: () => new Date(),
    environment: process.env,
    onProgress: () => {},
    allow: [],
    skipsInstall: true,
    confirm: null,
  };
}
