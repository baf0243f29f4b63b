import { lstat, mkdtemp, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const NAME = 'control.sock';
const PRIVATE = 'claw-control-';
/** The kernel takes 107 bytes for the path of a Unix socket on Linux and 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;

/** Returns the socket path of the assistant of a data folder; it need not exist. */
export async function findAddress(dataDir: string): Promise<string> {
  const path = join(dataDir, NAME);
  return await readlink(path).catch(() => path);
}

/**
 * Makes room for the socket: removes the one that a killed assistant left. Only the assistant of the data
 * folder may call this.
 *
 * Where the path is too long for a socket, the socket is in a private folder under the system's temporary
 * one, and a link in the data folder leads there.
 */
export async function makeAddress(dataDir: string): Promise<string> {
  await removeAddress(dataDir);
  const path = join(dataDir, NAME);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const folder = await mkdtemp(join(tmpdir(), PRIVATE));
  const target = join(folder, NAME);
  await symlink(target, path);
  return target;
}

/** Removes the socket, and the folder that was made for it. */
export async function removeAddress(dataDir: string): Promise<void> {
  const path = join(dataDir, NAME);
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink()) {
    const folder = dirname(await readlink(path));
    if (basename(folder).startsWith(PRIVATE)) await rm(folder, { recursive: true, force: true });
  }
  await rm(path, { force: true });
}
