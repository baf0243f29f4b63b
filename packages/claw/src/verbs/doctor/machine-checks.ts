import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClawError } from '../../errors.ts';
import { readConfig } from '../../installed/config.ts';
import { findBubblewrap } from '../../proof/bubblewrap.ts';
import { SYSTEM_PATH } from '../../proof/sandboxed.ts';
import { parseCommand } from '../../proof/shell-command.ts';
import { isGitFolder, runGit } from '../../repository/git.ts';
import { findEdits } from '../status.ts';
import { bad, type Check, type CheckResult, good, type Subject } from './check.ts';

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
  return good(`git ${version}${isGitFolder(root) ? '' : '; this project is not a repository'}`);
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

/** Checks of the project itself: its configuration, the commands that prove it, the owner's edits. */
export const project: readonly Check[] = [
  { area: 'config', run: ({ root }) => checkConfig(root) },
  { area: 'checks', run: checkChecks },
  { area: 'edits', run: checkEdits },
];

function checkConfig(root: string): CheckResult {
  try {
    readConfig(root);
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return bad(error.message, 'Fix claw.config.yaml: no command runs before.');
  }
  const isThere = existsSync(join(root, 'claw.config.yaml'));
  return good(isThere ? 'claw.config.yaml is valid' : 'no claw.config.yaml; the defaults hold');
}

function checkChecks({ root, config }: Subject): CheckResult {
  if (config === null) return null;
  const missing = [...config.check, config.test].filter((line) => !isRunnable(root, line));
  if (missing.length === 0) return good([...config.check, config.test].join(', '));
  const commands = `Not found: ${missing.join(', ')}.`;
  if (existsSync(join(root, 'package.json')) && !existsSync(join(root, 'node_modules'))) {
    return good(`${commands} There is no node_modules yet`, 'npm install brings them.');
  }
  return bad(commands, 'Install them, or fix check and test in claw.config.yaml.');
}

/** Tells whether a proof would find the command. */
function isRunnable(root: string, line: string): boolean {
  const { file } = parseCommand(line);
  if (file.includes('/')) return existsSync(join(root, file)) || isExecutable(file);
  const folders = [join(root, 'node_modules/.bin'), dirname(process.execPath), ...SYSTEM_PATH];
  return folders.some((folder) => isExecutable(join(folder, file)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run.
  }
}

async function checkEdits({ root, state, config, now }: Subject): Promise<CheckResult> {
  if (state === null || config === null) return null;
  const { length } = await findEdits(root, state, now);
  if (length === 0) return good('none that are not recorded');
  const files = length === 1 ? '1 file' : `${length} files`;
  return good(
    `${files} edited and not recorded; they survive every command`,
    'claw customize "<what and why>" records them.',
  );
}
