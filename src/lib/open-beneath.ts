import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** `O_NOFOLLOW_ANY` of macOS: no part of the path may be a link. Node has no name for it. */
const NO_LINK_ANYWHERE = 0x2000_0000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Opens a file below a folder for reading without following a link, even one that is put in the way
 * meanwhile: each part of the path is opened in the folder before it. Never waits for a pipe's other end.
 *
 * @param names the parts of the path, none of them empty, `.` or `..`
 * @throws Error ELOOP or ENOTDIR at a link, ENOENT, EACCES
 */
export async function openBeneath(root: string, names: readonly string[]): Promise<FileHandle> {
  const isName = (name: string) => !['', '.', '..'].includes(name) && !/[/\0]/.test(name);
  if (names.length === 0 || !names.every(isName)) throw new TypeError('not the path of a file');
  if (process.platform === 'darwin') {
    const path = join(await realpath(root), ...names);
    return await open(path, O_RDONLY | O_NONBLOCK | NO_LINK_ANYWHERE);
  }
  let opened = await open(root, O_RDONLY | O_DIRECTORY);
  for (const [index, name] of names.entries()) {
    const kind = index === names.length - 1 ? O_NONBLOCK : O_DIRECTORY;
    // Linux has no `openat` in Node; a path through the open folder is the same.
    const next = open(`/proc/self/fd/${opened.fd}/${name}`, O_RDONLY | O_NOFOLLOW | kind);
    const parent = opened;
    opened = await next.finally(() => parent.close());
  }
  return opened;
}

/**
 * Opens a folder below another one as `openBeneath` does, and hands over a path through which its entries are reached
 * while `use` runs: on Linux it stays the opened folder's, whatever is put in the way meanwhile.
 *
 * @throws Error as `openBeneath` does
 */
export async function inFolderBeneath<T>(
  root: string,
  names: readonly string[],
  use: (path: string) => T | Promise<T>,
): Promise<T> {
  const folder = await openBeneath(root, names);
  try {
    const isLinux = process.platform !== 'darwin';
    return await use(isLinux ? `/proc/self/fd/${folder.fd}` : join(await realpath(root), ...names));
  } finally {
    await folder.close();
  }
}

const CHUNK_BYTES = 65_536;

/**
 * Reads a text file below a folder, opened as by `openBeneath`. Returns null if it is too long, also if it grows
 * meanwhile, and if it is not a file.
 *
 * @throws Error as `openBeneath` does
 */
export async function readTextBeneath(
  root: string,
  names: readonly string[],
  maxBytes: number,
): Promise<string | null> {
  const file = await openBeneath(root, names);
  try {
    const stats = await file.stat();
    return stats.isFile() && stats.size <= maxBytes ? await readUpTo(file, maxBytes) : null;
  } finally {
    await file.close();
  }
}

/** Reads a file of whatever size it has by now; null where that is more. */
export async function readUpTo(
  file: Pick<FileHandle, 'read'>,
  maxBytes: number,
): Promise<string | null> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, sizeBytes);
    if (bytesRead === 0) return Buffer.concat(chunks, sizeBytes).toString();
    sizeBytes += bytesRead;
    if (sizeBytes > maxBytes) return null;
    chunks.push(chunk.subarray(0, bytesRead));
  }
}
