import { statfsSync } from 'node:fs';
import { findBubblewrap } from '../../proof/bubblewrap.ts';
import { isGitFolder, runGit } from '../../repository/git.ts';
import { bad, type Check, type CheckResult, good, type Subject } from './finding.ts';

/** The first Node whose SQLite, which holds the lock, needs no flag. */
const OLDEST_NODE = [22, 13] as const;
/** The first git whose `ls-files` knows `--deduplicate`. */
const OLDEST_GIT = [2, 31] as const;
const LEAST_FREE_MB = 200;

/** Checks of the machine that claw runs on. */
export const machine: readonly Check[] = [
  { area: 'node', run: () => checkNode(process.versions.node) },
  { area: 'git', run: checkGit },
  { area: 'sandbox', run: checkSandbox },
  { area: 'disk', run: ({ root }) => checkDisk(root) },
];

function checkNode(version: string): CheckResult {
  if (isAtLeast(version, OLDEST_NODE)) return good(`Node ${version}`);
  const advice = `Install Node ${OLDEST_NODE.join('.')} or newer.`;
  return bad(`Node ${version} is older than ${OLDEST_NODE.join('.')}.`, advice);
}

function isAtLeast(version: string, oldest: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

async function checkGit({ root }: Subject): Promise<CheckResult> {
  const version = await gitVersion(root);
  const advice = `Install git ${OLDEST_GIT.join('.')} or newer.`;
  if (version === null) {
    return isGitFolder(root)
      ? bad('git is not installed, and this project is a repository.', advice)
      : good('git is not installed; this project does without.', null);
  }
  if (!isAtLeast(version, OLDEST_GIT))
    return bad(`git ${version} is older than ${OLDEST_GIT.join('.')}.`, advice);
  return good(`git ${version}${isGitFolder(root) ? '' : '; this project is no repository'}`);
}

async function gitVersion(root: string): Promise<string | null> {
  try {
    const output = await runGit(root, ['--version']);
    return /\d+\.\d+(\.\d+)?/.exec(output.toString('utf8'))?.[0] ?? null;
  } catch {
    return null; // Not installed, or not to be started.
  }
}

async function checkSandbox({ environment }: Subject): Promise<CheckResult> {
  if ((await findBubblewrap(environment['PATH'] ?? '')) !== null) return good('bubblewrap works');
  return good(
    'no bubblewrap that works: checks and tests run with your rights',
    'Install bubblewrap to confine them.',
  );
}

function checkDisk(root: string): CheckResult {
  const { bavail, bsize } = statfsSync(root);
  const freeMb = Math.floor((bavail * bsize) / 1024 / 1024);
  const free = freeMb < 10_000 ? `${freeMb} MB free` : `${Math.floor(freeMb / 1024)} GB free`;
  if (freeMb >= LEAST_FREE_MB) return good(free);
  const advice = 'Make room: a command lays out a copy of the project and of its packages.';
  return bad(`only ${free}`, advice);
}
