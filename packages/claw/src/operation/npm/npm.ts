import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSameFile, type TreeFile, type Versions } from '@patchclaw/merge';
import type { Change } from '../../contract/result.ts';
import { KEPT_LOCK } from '../../installed/claw-folder.ts';
import { readTreeFile } from '../../installed/disk.ts';
import type { Installation } from '../../installed/installation.ts';
import { layOutView, sweepViews } from '../../proof/view.ts';
import type { Step } from '../../transaction/journal.ts';
import type { EngineContext } from '../context.ts';
import type { Operation } from '../planned-operation.ts';
import { releaseReader } from '../release-state.ts';
import { stepOf } from '../state-steps.ts';
import { localPackages } from './local-packages.ts';
import { allowedScripts, isOwnProject, npmSettings, unapprovedScript } from './npm-scripts.ts';
import { lackingPackages, wasSkipped } from './packages-lacking.ts';

/** Files that npm writes, so that no plan contains them. */
export const LOCK = 'package-lock.json';
const FOREIGN_LOCKS = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];
const SECTIONS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
];

/** The outcome of preparing packages: steps for the lock and `node_modules`, and the lock to keep. */
export type PreparedPackages = {
  readonly steps: readonly Step[];
  readonly changes: readonly Change[];
  readonly keptLock: Buffer | null;
  /** The owner had a lock of their own, which outlives the last skill. */
  readonly isLockOwners: boolean;
  /** npm had work here, and the owner passed it over. */
  readonly isSkipped: boolean;
  /** The prepared `node_modules`, relative to the root; null where the present one serves. */
  readonly nodeModules: string | null;
  readonly warnings: readonly string[];
  /** Takes away what no transaction took. */
  readonly remove: () => void;
};

/**
 * Installs the packages of the planned tree beside the project, if they differ from the present ones. npm starts from
 * the present lock, on replay from the kept one. If `package.json` is the release's own again, its lock is used too.
 *
 * @throws ClawError NPM_FAILED
 */
export async function preparePackages(
  context: EngineContext,
  operation: Operation,
): Promise<PreparedPackages> {
  const { root } = context;
  const releaseFile = releaseReader(operation);
  const disk = readTreeFile(root, 'package.json');
  const wanted = finalFile(operation, disk);
  const isReleased = isSameFile(wanted, releaseFile('package.json'));
  const kept = isLockless(root) ? null : readTreeFile(root, KEPT_LOCK);
  const isLockOwners = hasOwnLock(operation.installation, kept);
  const present = readTreeFile(root, LOCK);
  if (wanted === null || !isInstallNeeded(operation, disk, wanted)) {
    // A recorded state of the disk includes the versions on disk.
    const isRecorded = ['adopt', 'customize', 'rebase', 'pack'].includes(operation.verb);
    const lock = isRecorded && !isLockless(root) ? (present ?? kept) : kept;
    return {
      ...nothingPrepared(isReleased ? null : (lock?.bytes ?? null), isLockOwners),
      ...lockReleased(operation, present),
    };
  }
  const foreign = FOREIGN_LOCKS.find((name) => existsSync(join(root, name)));
  if (foreign !== undefined) {
    const warning = `package.json changed and ${foreign} shows another package manager: run its install.`;
    const lock = lockReleased(operation, present);
    return { ...nothingPrepared(null, isLockOwners), ...lock, warnings: [warning] };
  }
  if (context.skipsInstall === true) {
    context.onProgress({ kind: 'note', text: SKIPPED });
    const lock = isReleased ? null : (kept?.bytes ?? null);
    const prepared = {
      ...nothingPrepared(lock, isLockOwners),
      ...lockReleased(operation, present),
    };
    return { ...prepared, isSkipped: true, warnings: [SKIPPED] };
  }
  context.onProgress({ kind: 'step', text: 'Installing packages' });
  const isLockReleased = isReleased && !isLockOwners;
  const start = isLockReleased
    ? (releaseFile(LOCK) ?? present)
    : operation.verb === 'replay' && kept
      ? kept
      : mergeLocks({
          base: operation.installation.releaseFile(LOCK),
          ours: present,
          theirs: releaseFile(LOCK),
        });
  const installed = await install(context, operation.plan.changes, wanted, start?.bytes ?? null);
  context.onProgress({ kind: 'done', text: 'Installed packages' });
  if (isLockless(root)) return withoutLock(installed);
  const lock = isLockReleased
    ? releaseFile(LOCK)
    : { bytes: installed.lock, isExecutable: present?.isExecutable ?? false };
  return {
    steps: [
      ...(isSameFile(present, lock) ? [] : [stepOf(LOCK, present, lock)]),
      ...swapOf(installed),
    ],
    changes: isSameFile(present, lock) ? [] : [lockChange(present, lock)],
    keptLock: isReleased ? null : (lock?.bytes ?? null),
    isLockOwners,
    isSkipped: false,
    nodeModules: installed.nodeModules,
    warnings: installed.warnings,
    remove: installed.remove,
  };
}

const SKIPPED =
  'npm is passed over (--no-install): node_modules and the lock are not what package.json asks for. ' +
  '`claw replay` repairs it, or `npm install`.';

/**
 * Merges the lock that npm starts from, where both the release and the installation have changed it. Package
 * by package: the release's versions where it changed them, else the present ones. npm then completes it.
 */
function mergeLocks({ base, ours, theirs }: Versions<TreeFile | null>): TreeFile | null {
  if (isSameFile(base, theirs) || ours === null) return ours ?? (base === null ? theirs : null);
  if (isSameFile(base, ours)) return theirs;
  const [before, present, next] = [base, ours, theirs].map(readLock);
  if (theirs === null || !present || !next) return ours;
  const packages: Record<string, unknown> = {};
  for (const path of new Set([...Object.keys(next.packages), ...Object.keys(present.packages)])) {
    const isOwn = !isDeepStrictEqual(present.packages[path], before?.packages[path]);
    const isMoved = !isDeepStrictEqual(next.packages[path], before?.packages[path]);
    const entry = isOwn && !isMoved ? present.packages[path] : next.packages[path];
    const chosen = isOwn ? (entry ?? present.packages[path]) : entry;
    if (chosen !== undefined) packages[path] = chosen;
  }
  const text = JSON.stringify({ ...next.rest, packages }, null, 2);
  return { bytes: Buffer.from(`${text}\n`), isExecutable: ours.isExecutable };
}

type PackageLock = {
  readonly rest: object;
  readonly packages: Readonly<Record<string, unknown>>;
};

/** Parses a lock; null for one of another form, which npm has to write again. */
function readLock(file: TreeFile | null): PackageLock | null {
  try {
    const parsed: unknown = JSON.parse(file?.bytes.toString('utf8') ?? 'null');
    if (!isObject(parsed)) return null;
    const { packages, ...rest } = parsed;
    return isObject(packages) ? { rest, packages } : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns notes on npm work that a planned command skips.
 *
 * @returns what the owner is told of it, or nothing
 */
export function skippedNotes(context: EngineContext, operation: Operation): readonly string[] {
  if (context.skipsInstall !== true) return [];
  const disk = readTreeFile(context.root, 'package.json');
  const wanted = finalFile(operation, disk);
  return wanted !== null && isInstallNeeded(operation, disk, wanted) ? [SKIPPED] : [];
}

/** Tells whether `.npmrc` wants no lock: then the project gets neither its own nor one of claw's. */
function isLockless(root: string): boolean {
  const settings = readTreeFile(root, '.npmrc')?.bytes.toString('utf8') ?? '';
  const said = [...settings.matchAll(/^[ \t]*package-lock[ \t]*=[ \t]*(\S+)/gm)].at(-1)?.[1];
  return said === 'false';
}

function withoutLock({ nodeModules, warnings, remove }: Installed): PreparedPackages {
  return {
    ...nothingPrepared(null, false),
    steps: [{ kind: 'swap', path: 'node_modules', prepared: nodeModules }],
    nodeModules,
    warnings,
    remove,
  };
}

/** Returns the packages for a `package.json` that is about to be written, starting from the present lock. */
export async function reinstall(
  context: EngineContext,
  files: readonly { readonly path: string; readonly after: TreeFile | null }[],
): Promise<Pick<PreparedPackages, 'steps' | 'remove'>> {
  const { root } = context;
  const change = files.find(({ path }) => path === 'package.json');
  const wanted = change ? change.after : readTreeFile(root, 'package.json');
  if (wanted === null) {
    return { steps: [{ kind: 'swap', path: 'node_modules', prepared: null }], remove: () => {} };
  }
  const lockChange = files.find(({ path }) => path === LOCK);
  const present = readTreeFile(root, LOCK);
  const lock = (lockChange ? lockChange.after : present)?.bytes ?? null;
  const installed = await install(context, files, wanted, lock);
  return { steps: swapOf(installed), remove: installed.remove };
}

function swapOf({ nodeModules }: Installed): readonly Step[] {
  return nodeModules === null
    ? []
    : [{ kind: 'swap', path: 'node_modules', prepared: nodeModules }];
}

type Installed = {
  readonly lock: Buffer;
  readonly warnings: readonly string[];
  /** Relative to the root; null where the present ones serve. */
  readonly nodeModules: string | null;
  readonly remove: () => void;
};

async function install(
  { root, environment, allow, signal, onProgress }: EngineContext,
  planned: readonly { readonly path: string; readonly after: TreeFile | null }[],
  packageJson: TreeFile,
  lock: Buffer | null,
): Promise<Installed> {
  // Loads npm's driver only when it is needed.
  const { installPackages, installedLock } = await import('../../proof/npm/packages.ts');
  sweepViews(root);
  const settings = npmSettings(root);
  const changed = new Map(planned.map(({ path, after }) => [path, after] as const));
  // npm reads packages in the project itself where package.json says that they are.
  const local = localPackages(root, (path) => {
    if (path === 'package.json') return packageJson.bytes;
    const file = changed.has(path) ? changed.get(path) : readTreeFile(root, path);
    return file?.bytes ?? null;
  });
  const view = layOutView(root, {
    paths: local.paths,
    changed: new Map([
      ...[...changed].filter(([path]) => local.has(path)),
      ['package.json', packageJson],
      ['.npmrc', settings.file],
    ]),
    tests: [],
  });
  try {
    const installed = await installPackages({
      root,
      view: view.path,
      // Without any lock npm would leave in place what is no longer wanted.
      lock: isLockless(root) ? installedLock(root) : lock,
      allowScripts: allowedScripts(allow),
      isTrusted: isOwnProject(root),
      environment,
      signal,
      onProgress: (text) => onProgress({ kind: 'note', text }),
    });
    return {
      lock: installed.lock,
      warnings: [...settings.warnings, ...installed.unapproved.map(unapprovedScript)],
      nodeModules: installed.nodeModules && relative(root, installed.nodeModules),
      remove: () => sweepViews(root, { own: true }),
    };
  } catch (error) {
    view.remove();
    throw error;
  }
}

/**
 * Tells whether the lock on disk was the owner's before the first skill brought packages: another one than
 * the release's. From then on `state.yaml` remembers it.
 */
function hasOwnLock({ root, state, releaseFile }: Installation, kept: TreeFile | null): boolean {
  if (kept) return state?.structured[LOCK]?.['edited'] === true;
  const present = readTreeFile(root, LOCK);
  return present !== null && !isSameFile(present, releaseFile(LOCK));
}

/** Tells whether another release has the same packages in other versions. */
function isLockMoved({ core, installation }: Operation): boolean {
  if (!core) return false;
  const lock = core.release.files.get(LOCK) ?? null;
  return !isSameFile(lock, installation.releaseFile(LOCK));
}

/** Tells whether the lock on disk is another one than the installed release's. */
function isLockChanged({ installation: { root, releaseFile } }: Operation): boolean {
  return !isSameFile(readTreeFile(root, LOCK), releaseFile(LOCK));
}

/**
 * Replaces the lock by another release's, where nothing has to be installed and the lock was never changed
 * here.
 */
function lockReleased(
  operation: Operation,
  present: TreeFile | null,
): Pick<PreparedPackages, 'steps' | 'changes'> {
  if (!isLockMoved(operation) || isLockChanged(operation)) return { steps: [], changes: [] };
  const lock = releaseReader(operation)(LOCK);
  return { steps: [stepOf(LOCK, present, lock)], changes: [lockChange(present, lock)] };
}

function finalFile({ plan }: Operation, disk: TreeFile | null): TreeFile | null {
  const change = plan.changes.find(({ path }) => path === 'package.json');
  return change ? change.after : disk;
}

function isInstallNeeded(operation: Operation, disk: TreeFile | null, wanted: TreeFile): boolean {
  const { root, config } = operation.installation;
  if (dependenciesOf(disk) !== dependenciesOf(wanted)) return true;
  // It takes the tree as it is, and proves nothing.
  if (operation.verb === 'adopt') return false;
  if (wasSkipped(operation.installation.state) && lackingPackages(root, wanted).length > 0)
    return true;
  if (
    isLockMoved(operation) &&
    (existsSync(join(root, 'node_modules')) || isLockChanged(operation))
  )
    return true;
  const hasProof =
    config.check.length > 0 ||
    operation.plan.layers.some(({ manifest }) => manifest.test.length > 0);
  const isMissing = !existsSync(join(root, 'node_modules'));
  return hasProof && isMissing && dependenciesOf(wanted) !== dependenciesOf(null);
}

/** Returns the part of a package.json that decides what gets installed, as one comparable text. */
export function dependenciesOf(file: TreeFile | null): string {
  const parsed = file ? parseJson(file.bytes.toString('utf8')) : {};
  if (parsed === undefined) return file?.bytes.toString('latin1') ?? '';
  const fields = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
  const sections = fields.filter(([key, value]) => SECTIONS.includes(key) && !isEmpty(value));
  return JSON.stringify(sections.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Parses JSON; undefined if that fails, as npm will report it if it matters. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function nothingPrepared(keptLock: Buffer | null, isLockOwners: boolean): PreparedPackages {
  return {
    steps: [],
    changes: [],
    keptLock,
    isLockOwners,
    isSkipped: false,
    nodeModules: null,
    warnings: [],
    remove: () => {},
  };
}

function lockChange(before: TreeFile | null, after: TreeFile | null): Change {
  const kind = before === null ? 'add' : after === null ? 'delete' : 'modify';
  return { path: LOCK, kind, cause: 'npm' };
}
