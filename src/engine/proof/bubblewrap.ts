import { accessSync, constants, existsSync, readdirSync, readlinkSync } from 'node:fs';
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
 * Binds packages read-only. Vite insists on writing beside them, into `node_modules/.vite-temp`. Where it is
 * installed, that one folder is scratch space, and the owner's folder still stays untouched. For that each
 * entry is bound alone, which takes a moment with a thousand of them.
 *
 * Leftovers of Vite and Vitest from earlier runs are not shown: they would begin by clearing them away, and
 * could not.
 */
function packages(from: string, to: string): string[] {
  if (!existsSync(join(from, 'vite'))) return ['--ro-bind', from, to];
  const args = ['--tmpfs', to];
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) args.push('--symlink', readlinkSync(source), target);
    else if (!SCRATCH.test(entry.name)) args.push('--ro-bind', source, target);
  }
  return [...args, '--tmpfs', join(to, '.vite-temp'), '--remount-ro', to];
}

const SCRATCH = /^\.vite/;

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
