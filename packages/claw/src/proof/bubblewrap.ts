import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { execa } from 'execa';

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt'];
const ETC = [
  'alternatives',
  'group',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'nsswitch.conf',
  'passwd',
];

/** A bubblewrap that works on this machine. */
export type Bubblewrap = {
  readonly file: string;
  /** It can limit the size of a folder in memory, as version 0.7 and newer can. */
  readonly hasSizes: boolean;
};

const found = new Map<string, Promise<Bubblewrap | null>>();

/**
 * Finds a bubblewrap that works on this machine; null if there is none. Tries it once per process: being
 * installed is not enough inside a container, or where user namespaces are forbidden.
 */
export function findBubblewrap(searchPath: string): Promise<Bubblewrap | null> {
  const known = found.get(searchPath) ?? tryBubblewrap(searchPath);
  found.set(searchPath, known);
  return known;
}

async function tryBubblewrap(searchPath: string): Promise<Bubblewrap | null> {
  const file = searchPath
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable);
  if (file === undefined) return null;
  for (const hasSizes of [true, false]) {
    const args = [...base(hasSizes ? 1024 * 1024 : null), '--', 'true'];
    const trial = await execa(file, args, { reject: false, timeout: TRIAL_MS, stdio: 'ignore' });
    if (trial.exitCode === 0) return { file, hasSizes };
  }
  return null;
}

/** Only a bubblewrap that hangs takes longer, also on a busy machine. */
const TRIAL_MS = 60_000;

/** The files that a command may see, apart from the system's programs. All paths are absolute and real. */
export type Visible = {
  readonly view: string;
  readonly nodeModules: string | null;
  /** Folder of the `node` that runs; bound where the system's folders do not hold it. */
  readonly nodeFolder: string;
  /** Never visible, even if they lie inside a folder of the system. */
  readonly hidden: readonly string[];
  /** The size of each scratch folder in memory; null where bubblewrap cannot limit it. */
  readonly scratchBytes: number | null;
};

/**
 * Makes the arguments for bubblewrap: no network except a loopback of its own, no home, the system read-only, the
 * view writable at its own path, everything else absent.
 */
export function bubblewrapArgs(visible: Visible): string[] {
  const { view, nodeModules, nodeFolder, hidden, scratchBytes } = visible;
  const scratch = (path: string) => inMemory(path, scratchBytes);
  const args = base(scratchBytes);
  for (const path of hidden) if (isInSystem(path)) args.push(...scratch(path));
  args.push(...scratch('/tmp'), '--dir', '/tmp/home', '--bind', view, view);
  if (nodeModules !== null) {
    args.push(...packages(nodeModules, join(view, 'node_modules'), scratch));
  }
  const isCovered = isInSystem(nodeFolder) && !hidden.some((path) => isInside(nodeFolder, path));
  if (!isCovered) args.push('--ro-bind', nodeFolder, nodeFolder);
  // Everything else is bubblewrap's own empty root: files there would not last, so it is read-only.
  return [...args, '--remount-ro', '/', '--chdir', view];
}

/**
 * Binds packages read-only. Vite insists on writing beside them, into `node_modules/.vite-temp`: where it is
 * installed, that folder is scratch space, and an empty one is made in the owner's packages to put it on, as
 * Vite itself would. What Vite and Vitest left there from earlier runs is not shown.
 *
 * Binding each package alone would need no folder there, and a second for 250 of them, for every command.
 */
function packages(
  from: string,
  to: string,
  scratchAt: (path: string) => readonly string[],
): string[] {
  const args = ['--ro-bind', from, to];
  if (!existsSync(join(from, 'vite'))) return args;
  makeScratch(join(from, '.vite-temp'));
  const scratch = readdirSync(from, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && SCRATCH.test(entry.name),
  );
  return [...args, ...scratch.flatMap(({ name }) => scratchAt(join(to, name)))];
}

const SCRATCH = /^\.vite/;

function makeScratch(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // Packages that are not ours to write to: a command that needs the folder says so itself.
  }
}

function base(scratchBytes: number | null): string[] {
  const args = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  for (const path of SYSTEM) args.push('--ro-bind-try', path, path);
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  // The folder of devices is in memory, too: only what is shared there can be written, up to its size.
  const shared = [...inMemory('/dev/shm', scratchBytes), '--remount-ro', '/dev'];
  return [...args, '--proc', '/proc', '--dev', '/dev', ...shared];
}

function inMemory(path: string, bytes: number | null): readonly string[] {
  return bytes === null ? ['--tmpfs', path] : ['--size', String(bytes), '--tmpfs', path];
}

function isInSystem(path: string): boolean {
  return SYSTEM.some((folder) => isInside(path, folder));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not ours to run: the next folder of the path is tried.
  }
}
