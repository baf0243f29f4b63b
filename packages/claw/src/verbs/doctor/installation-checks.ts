import { accessSync, constants, existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes, digestFile } from '../../digest.ts';
import { ClawError, shellWord } from '../../errors.ts';
import {
  BASE,
  COMPOSED,
  CUSTOM,
  inferredPlace,
  PACKAGES,
  packagePlaces,
  readComposed,
  readFolder,
  readPackageFiles,
} from '../../installed/claw-folder.ts';
import { treeReader } from '../../installed/disk.ts';
import { digestBase } from '../../installed/file-digests.ts';
import { readResolutions } from '../../installed/resolution-file.ts';
import {
  type LayerState,
  parseState,
  readState,
  STATE_PATH,
  type State,
} from '../../installed/state-file.ts';
import { FOREIGN_ADVICE } from '../../operation/exclusive-run.ts';
import { digestPackage } from '../../package/package.ts';
import { isForeign } from '../../package/package-from-files.ts';
import { readPending } from '../../pending/pending.ts';
import { isGitFolder, runGit } from '../../repository/git.ts';
import { listTransactions } from '../../transaction/records.ts';
import {
  examineJournal,
  liveHolder,
  readJournal,
  transactionIds,
} from '../../transaction/recover.js';
import { bad, type Check, type CheckResult, good, type Subject } from './check.ts';

/** Checks whether `.claw/state.yaml` can be read, and names a good copy otherwise. */
export const stateFile: Check = { area: 'state', run: ({ root }) => checkState(root) };

async function checkState(root: string): Promise<CheckResult> {
  try {
    const state = readState(root);
    if (state !== null) return good(summaryOf(state));
    const isLost = [BASE, COMPOSED].some((folder) => existsSync(join(root, folder)));
    if (!isLost) return good('nothing is installed here yet');
    return bad(`${STATE_PATH} is gone; what it listed is still there.`, await waysBack(root));
  } catch (error) {
    return bad(findFault(root, error), await waysBack(root));
  }
}

function summaryOf({ core, layers }: State): string {
  const skills = `${layers.length} ${layers.length === 1 ? 'layer' : 'layers'}`;
  return `core ${core.version ?? 'without a version'} with ${skills}`;
}

/** Returns line and reason; names git's markers as such, where YAML only sees an odd line. */
function findFault(root: string, error: unknown): string {
  if (!(error instanceof ClawError)) {
    return `${STATE_PATH} cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  const lines = readFileSync(join(root, STATE_PATH), 'utf8').split('\n');
  const marker = lines.findIndex((line) => /^(<{7}|>{7}) /.test(line));
  if (marker >= 0) {
    return `${STATE_PATH}, line ${marker + 1}: git left conflict markers. In the list of layers keep what should be installed, elsewhere take either side, then run claw replay.`;
  }
  return error.message.replace(/ `claw doctor` names.*$/s, '');
}

/** Lists ways to recover, only those that exist and can be read. */
async function waysBack(root: string): Promise<string> {
  const ways: string[] = [];
  const backup = newestBackup(root);
  if (backup !== null) {
    ways.push(`cp ${backup.path} ${STATE_PATH}  (as "${backup.summary}" left it)`);
  }
  if (await isCommitted(root)) ways.push(`git checkout HEAD -- ${STATE_PATH}`);
  if (ways.length > 0) return `Take one back, then run claw verify: ${ways.join(', or ')}.`;
  return (
    `No good copy is in git or .claw/backup. Move ${STATE_PATH} away and run claw init: the files ` +
    'stay as they are, and what skills brought counts as your own edits.'
  );
}

function newestBackup(root: string): { readonly path: string; readonly summary: string } | null {
  for (const { id, summary, stateAfter } of listTransactions(root)) {
    const folder = `.claw/backup/${id}`;
    const steps = readJournal(root, `${folder}/record.json`)?.steps ?? [];
    const path = `${folder}/after/${steps.findIndex((step) => step.path === STATE_PATH)}`;
    if (stateAfter === null || !existsSync(join(root, path))) continue;
    const bytes = readFileSync(join(root, path));
    if (digestBytes(bytes) === stateAfter && isState(bytes)) return { path, summary };
  }
  return null;
}

async function isCommitted(root: string): Promise<boolean> {
  if (!isGitFolder(root)) return false;
  try {
    return isState(await runGit(root, ['cat-file', 'blob', `HEAD:${STATE_PATH}`]));
  } catch {
    return false; // No commit yet, or none that holds it.
  }
}

function isState(bytes: Buffer): boolean {
  try {
    parseState(bytes);
    return true;
  } catch {
    return false; // Another unreadable one is no help.
  }
}

/** Checks of the bytes kept in `.claw/`, against the digests in `state.yaml`. */
export const kept: readonly Check[] = [
  { area: 'base', run: whereInstalled(checkBase) },
  { area: 'composed', run: whereInstalled(checkComposed) },
  { area: 'packages', run: whereInstalled(checkPackages) },
  { area: 'resolutions', run: checkResolutions },
];

type Installed = Subject & { readonly state: State };

function whereInstalled(look: (installed: Installed) => Promise<CheckResult>) {
  return async (subject: Subject): Promise<CheckResult> => {
    const { state } = subject;
    return state === null ? null : await look({ ...subject, state });
  };
}

async function checkBase({ root, state }: Installed): Promise<CheckResult> {
  if (digestBase(root, state.core) !== null) return good('the core as released, whole');
  const fault = existsSync(join(root, BASE)) ? 'is not the core that is pinned' : 'is missing';
  const advice = await fromGit(root, BASE, 'claw replay looks for the core in git’s history');
  return bad(`${BASE} ${fault}.`, advice);
}

async function checkComposed({ root, state }: Installed): Promise<CheckResult> {
  const damaged = [...state.files.keys()].filter((path) => !isComposedWhole(root, state, path));
  if (damaged.length === 0) return good(`${counted(state.files.size, 'composed file')}, whole`);
  const advice = await fromGit(root, COMPOSED, 'claw replay composes them again');
  return bad(`Changed or missing in ${COMPOSED}: ${listed(damaged)}.`, advice);
}

function isComposedWhole(root: string, state: State, path: string): boolean {
  try {
    readComposed(treeReader(root), state, path);
    return true;
  } catch (error) {
    if (error instanceof ClawError) return false;
    throw error;
  }
}

async function checkPackages({ root, state }: Installed): Promise<CheckResult> {
  const damaged = state.layers.filter((layer) => !isPackageWhole(root, layer));
  if (damaged.length === 0) return good(`${counted(state.layers.length, 'package')}, whole`);
  const names = listed(damaged.map(({ name, version }) => `${name} ${version}`));
  const folder = placeOf(damaged[0]);
  const advice = await fromGit(
    root,
    folder,
    'claw replay takes them from their source, if that still has the pinned version',
  );
  return bad(`Changed or missing in .claw: ${names}.`, advice);
}

function isPackageWhole(root: string, layer: LayerState): boolean {
  const isWhole = packagePlaces(layer).some((place) => {
    const files = readPackageFiles(root, place);
    return digestPackage(new Map([...files].filter(([path]) => !isForeign(path)))) === layer.digest;
  });
  if (!isWhole) return false;
  const bases = readFolder(root, inferredPlace(layer.name));
  return Object.entries(layer.inferredBases).every(([path, pinned]) => {
    const file = bases.get(path);
    return pinned === 'unknown' || (file !== undefined && digestFile(file) === pinned);
  });
}

/** Returns the folder of a layer's package: customisations are apart from the skills. */
function placeOf(layer: LayerState | undefined): string {
  return layer?.kind === 'customisation' ? CUSTOM : PACKAGES;
}

function checkResolutions({ root, state }: Subject): CheckResult {
  const resolutions = readResolutions(root, state);
  return good(`${resolutions.length} recorded`);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

async function fromGit(root: string, folder: string, otherwise: string): Promise<string> {
  const isTracked =
    isGitFolder(root) && (await runGit(root, ['ls-files', '-z', '--', folder])).length > 0;
  return isTracked
    ? `git checkout HEAD -- ${shellWord(folder)}; or ${otherwise}.`
    : `${otherwise}.`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const FOLDERS = ['base', 'composed', 'packages', 'custom', 'pending', 'backup', 'tx', 'cache'];

/** Checks of the folder and of commands in progress: running, killed, or waiting for decisions. */
export const operations: readonly Check[] = [
  { area: 'folder', run: ({ root }) => checkFolder(root) },
  { area: 'lock', run: ({ root }) => checkLock(root) },
  { area: 'journal', run: ({ root }) => checkJournals(root) },
  { area: 'pending', run: checkPending },
];

function checkFolder(root: string): CheckResult {
  const folder = join(root, '.claw');
  const kind = lstatSync(folder, { throwIfNoEntry: false });
  if (!kind) return good('there is none yet');
  const odd = ['', ...FOLDERS].map((name) => join('.claw', name)).find((path) => isOdd(root, path));
  if (odd !== undefined) return bad(`${odd} is not a folder.`, `Move ${odd} away.`);
  if (isWritable(folder)) return good('can be written');
  return bad('.claw cannot be written.', 'Make it writable for yourself.');
}

function isOdd(root: string, path: string): boolean {
  return lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === false;
}

function checkLock(root: string): CheckResult {
  const lock = lstatSync(join(root, '.claw/lock.db'), { throwIfNoEntry: false });
  if (lock && !lock.isFile()) {
    return bad('.claw/lock.db is not a file, so no command can lock.', 'Move .claw/lock.db away.');
  }
  const holder = liveHolder(root);
  if (holder === null) return good('free');
  return good(`claw ${holder.verb} is running (pid ${holder.pid})`, 'Wait for it to finish.');
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // No right to, or a read-only disk.
  }
}

function checkJournals(root: string): CheckResult {
  const [id] = transactionIds(root, '.claw/tx');
  if (id === undefined || liveHolder(root) !== null) return good('no command was cut short');
  const place = `.claw/tx/${id}`;
  const name = ['rollback.json', 'journal.json'].find((file) =>
    existsSync(join(root, place, file)),
  );
  if (name === undefined) return good('a command was cut short before it changed anything');
  const { journal, isOwn } = examineJournal(root, `${place}/${name}`);
  if (journal === null) {
    const advice = 'claw recover --keep-mine leaves the files as they are and sets it aside.';
    return bad(`The journal of a command that was cut short cannot be read (${id}).`, advice);
  }
  if (!isOwn) return bad(`${place} was not written by claw in this folder.`, FOREIGN_ADVICE);
  const advice = 'claw recover finishes it, and says so where it needs a decision.';
  return bad(`"${journal.summary}" was cut short while it was publishing.`, advice);
}

function checkPending({ root, state }: Subject): CheckResult {
  const pending = readPending(root);
  if (pending === null) {
    if (!existsSync(join(root, '.claw/pending'))) return good('nothing waits');
    return bad('The operation that waits cannot be read.', 'claw abort forgets it; plan it again.');
  }
  const name = [pending.verb, ...pending.arguments].join(' ');
  if (pending.state !== (state?.digest ?? null)) {
    const message = `"${name}" waits, but was planned on another .claw/state.yaml.`;
    return bad(message, 'Switch back to the branch it was planned on, or forget it: claw abort.');
  }
  const paths = pending.conflicts.map(({ path }) => path).join(', ');
  return good(
    `"${name}" waits for decisions on ${paths}`,
    'claw conflicts shows them, claw resolve decides, claw continue goes on, claw abort forgets.',
  );
}
