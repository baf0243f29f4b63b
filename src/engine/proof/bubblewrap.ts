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

const found = new Map<string, Promise<string | null>>();

/**
 * Finds a bubblewrap that works on this machine; null if there is none. Tries it once per process: being
 * installed is not enough inside a container, or where user namespaces are forbidden.
 */
export function findBubblewrap(searchPath: string): Promise<string | null> {
  const known = found.get(searchPath) ?? tryBubblewrap(searchPath);
  found.set(searchPath, known);
  return known;
}

async function tryBubblewrap(searchPath: string): Promise<string | null> {
  const file = searchPath
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable);
  if (file === undefined) return null;
  const args = [...base(), '--', 'true'];
  const trial = await execa(file, args, { reject: false, timeout: 5000, stdio: 'ignore' });
  return trial.exitCode === 0 ? file : null;
}

/** The files that a command may see, apart from the system's programs. All paths are absolute and real. */
export type Visible = {
  readonly view: string;
  readonly nodeModules: string | null;
  /** Folder of the `node` that runs; bound where the system's folders do not hold it. */
  readonly nodeFolder: string;
  /** Never visible, even if they lie inside a folder of the system. */
  readonly hidden: readonly string[];
};

/**
 * Makes the arguments for bubblewrap: no network but a loopback of its own, no home, the system read-only,
 * the view writable at its own path, everything else absent.
 */
export function bubblewrapArgs({ view, nodeModules, nodeFolder, hidden }: Visible): string[] {
  const args = base();
  for (const path of hidden) if (isInSystem(path)) args.push('--tmpfs', path);
  args.push('--tmpfs', '/tmp', '--dir', '/tmp/home', '--bind', view, view);
  if (nodeModules !== null) args.push(...packages(nodeModules, join(view, 'node_modules')));
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
function packages(from: string, to: string): string[] {
  const args = ['--ro-bind', from, to];
  if (!existsSync(join(from, 'vite'))) return args;
  makeScratch(join(from, '.vite-temp'));
  const scratch = readdirSync(from, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && SCRATCH.test(entry.name),
  );
  return [...args, ...scratch.flatMap(({ name }) => ['--tmpfs', join(to, name)])];
}

const SCRATCH = /^\.vite/;

function makeScratch(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // Packages that are not ours to write to: a command that needs the folder says so itself.
  }
}

function base(): string[] {
  const args = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  for (const path of SYSTEM) args.push('--ro-bind-try', path, path);
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  return [...args, '--proc', '/proc', '--dev', '/dev'];
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
