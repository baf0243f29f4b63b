import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { lstat, readBytes } from '../package/regular-file.ts';

/**
 * Reads one regular file of a folder; null when nothing is there.
 *
 * @throws ClawError LINK_REFUSED for a symbolic link at the path or above it, FILE_KIND for anything
 *   else that is not a regular file; a FIFO or device is never opened
 */
export function readTreeFile(root: string, path: string): TreeFile | null {
  return treeReader(root)(path);
}

/**
 * Returns the same for many files: folders on the way to them are looked at once.
 *
 * @param listed a folder that was just walked, so that those below it are known to be no links
 */
export function treeReader(root: string, listed = ''): (path: string) => TreeFile | null {
  const folders = new Map<string, boolean>();
  return (path) =>
    hasFolders(root, listed === '' ? path : `${listed}/`, folders) ? readRegular(root, path) : null;
}

function readRegular(root: string, path: string): TreeFile | null {
  const target = `${root}/${path}`;
  const stat = lstat(target);
  if (!stat) return null;
  if (stat.isSymbolicLink()) throw linkRefused(path);
  if (stat.isDirectory()) return null;
  if (!stat.isFile()) {
    throw new ClawError('FILE_KIND', `${path} is not a regular file. Move it away and try again.`, {
      path,
    });
  }
  const handle = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size, mode } = fstatSync(handle);
    return { bytes: readBytes(handle, size), isExecutable: (mode & 0o100) !== 0 };
  } finally {
    closeSync(handle);
  }
}

/** Reads those of the paths that are there. */
export function readTree(root: string, paths: Iterable<string>): Tree {
  const tree = new Map<string, TreeFile>();
  const read = treeReader(root);
  for (const path of paths) {
    const file = read(path);
    if (file) tree.set(path, file);
  }
  return tree;
}

/** Tells whether all folders on the way are there, and remembers it of each. Refuses those that are links. */
function hasFolders(root: string, path: string, folders: Map<string, boolean>): boolean {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    const folder = path.slice(0, end);
    const known = folders.get(folder);
    const stat = known === undefined ? lstat(`${root}/${folder}`) : null;
    if (stat?.isSymbolicLink()) throw linkRefused(folder);
    const isThere = known ?? stat !== null;
    folders.set(folder, isThere);
    if (!isThere) return false;
  }
  return true;
}

function linkRefused(path: string): ClawError {
  return new ClawError(
    'LINK_REFUSED',
    `${path} is a symbolic link, and nothing is written through links. Replace it by a file or folder.`,
    { path },
  );
}

/** Reads each file once: a plan must not see a file change under it. */
export function memoizeReads(
  read: (path: string) => TreeFile | null,
): (path: string) => TreeFile | null {
  const known = new Map<string, TreeFile | null>();
  return (path) => {
    const file = known.get(path);
    if (file !== undefined) return file;
    const fresh = read(path);
    known.set(path, fresh);
    return fresh;
  };
}
