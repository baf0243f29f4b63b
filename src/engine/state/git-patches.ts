import { type ChildProcess, spawn } from 'node:child_process';
import { ClawError } from '../errors.ts';
import { runGit } from './git.ts';

// A patch id has to come out the same whatever the settings of the machine say.
const DIFF = [
  ...['--patch', '--text', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'],
  ...['--unified=3', '--inter-hunk-context=0', '--diff-algorithm=myers', '--indent-heuristic'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

/** The changes of commits, by their patch ids. */
export type RangePatches = {
  /** Commit → patch id, oldest first; null for a merge. Those that change nothing are left out. */
  readonly commits: Readonly<Record<string, string | null>>;
  /** Of everything between the two ends; null where they are equal. */
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

/** Returns the patch ids of what a release has beyond an older commit. */
export async function patchesSince(
  root: string,
  since: string,
  release: string,
): Promise<ReadonlySet<string>> {
  const ids = await patchIds(root, ['log', '--no-merges', ...DIFF, `${since}..${release}`]);
  return new Set(ids.values());
}

/** Runs `git <args> | git patch-id`, so that no history has to fit into memory. @returns commit → id */
async function patchIds(
  root: string,
  args: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const source = spawn('git', ['-c', 'core.quotePath=true', ...args], {
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
