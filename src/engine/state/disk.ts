import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import { lstat } from '../skill/lstat.ts';
import type { Tree, TreeFile } from '../tree.ts';

/**
 * Reads one regular file of a folder; null when nothing is there.
 *
 * @throws ClawError LINK_REFUSED for a symbolic link at the path or above it, FILE_KIND for anything
 *   else that is no regular file; a FIFO or device is never opened
 */
export function readTreeFile(root: string, path: string): TreeFile | null {
  refuseLinkedFolders(root, path);
  const target = join(root, path);
  const stat = lstat(target);
  if (!stat) return null;
  if (stat.isSymbolicLink()) throw linkRefused(path);
  if (stat.isDirectory()) return null;
  if (!stat.isFile()) {
    throw new ClawError('FILE_KIND', `${path} is no regular file. Move it away and try again.`, {
      path,
    });
  }
  const handle = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return { bytes: readFileSync(handle), isExecutable: (fstatSync(handle).mode & 0o100) !== 0 };
  } finally {
    closeSync(handle);
  }
}

/** Reads those of the paths that are there. */
export function readTree(root: string, paths: Iterable<string>): Tree {
  const tree = new Map<string, TreeFile>();
  for (const path of paths) {
    const file = readTreeFile(root, path);
    if (file) tree.set(path, file);
  }
  return tree;
}

function refuseLinkedFolders(root: string, path: string): void {
  const parts = path.split('/').slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join('/');
    const stat = lstat(join(root, folder));
    if (!stat) return;
    if (stat.isSymbolicLink()) throw linkRefused(folder);
  }
}

function linkRefused(path: string): ClawError {
  return new ClawError(
    'LINK_REFUSED',
    `${path} is a symbolic link, and nothing is written through links. Replace it by a file or folder.`,
    { path },
  );
}
