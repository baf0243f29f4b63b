import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { OWN_SETTINGS, runGit } from './git.ts';

// A patch id has to come out the same whatever the settings of the machine say.
const DIFF = [
  ...['--patch', '--text', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'],
  ...['--unified=3', '--inter-hunk-context=0', '--diff-algorithm=myers', '--indent-heuristic'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

const MAX_PATCH = 16 * 1024 * 1024;

/** The changes of commits, by their patch ids. */
export type RangePatches = {
  /** Commit → patch id, oldest first; null for a merge. Those that change nothing are left out. */
  readonly commits: Readonly<Record<string, string | null>>;
  /** The patch id of everything between the two ends; null if they are equal. */
  readonly patch: string | null;
};

/** Returns the commits from one end to another, the first left out, with git's patch ids. */
export async function rangePatches(
  root: string,
  first: string,
  last: string,
): Promise<RangePatches> {
  const range = `${first}..${last}`;
  const listed = await runGit(root, ['rev-list', '--parents', '--reverse', '--topo-order', range]);
  const ids = await patchIds(root, ['log', '--no-merges', ...DIFF, range]);
  const commits: Record<string, string | null> = {};
  for (const line of listed.toString('utf8').split('\n')) {
    const [commit = '', ...parents] = line.split(' ');
    const patch = ids.get(commit) ?? null;
    if (commit !== '' && (patch !== null || parents.length > 1)) commits[commit] = patch;
  }
  const whole = await patchIds(root, ['diff', ...DIFF, first, last]);
  return { commits, patch: [...whole.values()][0] ?? null };
}

/** Returns those of the commits that the history of a release does not hold, or that are not known here. */
export async function notInHistory(
  root: string,
  commits: readonly string[],
  release: string,
): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const checked = await runGit(root, ['cat-file', '--batch-check'], `${commits.join('\n')}\n`);
  const known = commits.filter((commit) => checked.includes(`${commit} commit `));
  const asked = `${known.join('\n')}\n^${release}\n`;
  const missing =
    known.length === 0
      ? ''
      : (await runGit(root, ['rev-list', '--no-walk', '--stdin'], asked)).toString('utf8');
  const left = new Set(missing.split('\n'));
  return commits.filter((commit) => left.has(commit) || !known.includes(commit));
}

/** Returns what a release has beyond an older commit: patch id → the last commit with it. */
export async function patchesSince(
  root: string,
  since: string,
  release: string,
): Promise<ReadonlyMap<string, string>> {
  const ids = await patchIds(root, [
    'log',
    '--reverse',
    '--no-merges',
    ...DIFF,
    `${since}..${release}`,
  ]);
  return new Map([...ids].map(([commit, patch]) => [patch, commit]));
}

/** Returns the patch id of a change of files, as a commit of just that would have it; null where nothing changes. */
export async function patchOf(
  before: ReadonlyMap<string, TreeFile>,
  after: ReadonlyMap<string, TreeFile>,
): Promise<string | null> {
  const place = mkdtempSync(join(tmpdir(), 'claw-patch-'));
  try {
    for (const [side, files] of [['a', before] as const, ['b', after] as const]) {
      mkdirSync(join(place, side));
      for (const [path, { bytes, isExecutable }] of files) {
        mkdirSync(dirname(join(place, side, path)), { recursive: true });
        writeFileSync(join(place, side, path), bytes, { mode: isExecutable ? 0o755 : 0o644 });
      }
    }
    // The names of the two folders are the prefixes that a diff of commits puts in front.
    const prefixes = ['--src-prefix=', '--dst-prefix='];
    const args = ['diff', '--no-index', ...DIFF, ...prefixes, 'a', 'b'];
    const run = spawnSync('git', args, { cwd: place, maxBuffer: MAX_PATCH });
    // 1 says that the two differ. More than that is known by its commits alone.
    if (run.status !== 1) return null;
    const text = run.stdout.toString('latin1').replace(/^diff --git b\//gm, 'diff --git a/');
    const [id] = (await runGit(place, ['patch-id', '--stable'], Buffer.from(text, 'latin1')))
      .toString('utf8')
      .split(' ');
    return id || null;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Returns the commits that a release has taken back since an older one, as its messages name them. */
export async function revertedSince(
  root: string,
  since: string | null,
  release: string,
): Promise<ReadonlySet<string>> {
  const range = since === null ? release : `${since}..${release}`;
  const marked = ['--extended-regexp', '--grep=^This reverts commit [0-9a-f]{40}', '--format=%B'];
  const messages = (await runGit(root, ['log', ...marked, range])).toString('utf8');
  return new Set(
    [...messages.matchAll(/^This reverts commit ([0-9a-f]{40})/gm)].map(([, id = '']) => id),
  );
}

/** Runs `git <args> | git patch-id`, so that no history has to fit into memory. @returns commit → id */
async function patchIds(
  root: string,
  args: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const source = spawn('git', [...OWN_SETTINGS, '-c', 'core.quotePath=true', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const sink = spawn('git', ['patch-id', '--stable'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // If one of the two ends early, its exit code gives the reason.
  sink.stdin.on('error', () => {});
  source.stdout.pipe(sink.stdin);
  const chunks: Buffer[] = [];
  sink.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const codes = await Promise.all([ended(source), ended(sink)]);
  if (codes.some((code) => code !== 0)) {
    throw new ClawError('IO_FAILED', `git ${args[0]} failed.`, { data: { args, codes } });
  }
  const lines = Buffer.concat(chunks).toString('utf8').trim().split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [id = '', commit = ''] = line.split(' ');
      return id === '' ? [] : [[commit, id] as const];
    }),
  );
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
}
