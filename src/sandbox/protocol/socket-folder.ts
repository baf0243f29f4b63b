import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, chown, lstat, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineUnusable } from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';

/** The kernel takes 107 bytes for the path of a Unix socket on Linux and 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;
const SOCKET_NAME = 'host.sock';

/** Returns the file of a group's socket inside its socket folder. */
export function socketPath(socketDir: string): string {
  return join(socketDir, SOCKET_NAME);
}

export type SocketParts = {
  readonly dataDir: string;
  readonly folder: string;
  /** The owner's choice of where sockets live; null leaves it to the length of paths. */
  readonly socketDir: string | null;
  readonly user: AgentUser;
};

/**
 * Makes the folder that holds one group's socket and nothing else, empty.
 *
 * It is in the folder that the owner names, else in the data folder, else, where that path would be too long for a
 * socket, in a private one under the system's temporary folder. The agent's user may enter it, and only it.
 *
 * @throws EngineUnusable when the owner's folder is too long a path, or the private one belongs to another user
 */
export async function makeSocketFolder(parts: SocketParts): Promise<string> {
  const { dataDir, folder, user } = parts;
  const socketDir = join(await parentFolder(parts), shortHash(`${dataDir}\0${folder}`));
  await rm(socketDir, { recursive: true, force: true });
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) await chown(socketDir, user.uid, user.gid);
  return socketDir;
}

async function parentFolder({ dataDir, socketDir }: SocketParts): Promise<string> {
  if (socketDir === null) {
    const own = join(dataDir, 'run');
    return isShort(own) ? own : privateFolder(dataDir);
  }
  if (isShort(socketDir)) return socketDir;
  throw new EngineUnusable(
    `${socketDir} is too long a path for sockets. Set a shorter CLAW_SOCKETS.`,
  );
}

/** Returns the first eight hexadecimal digits of a digest: enough to tell an installation's groups apart. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function isShort(parent: string): boolean {
  const path = socketPath(join(parent, shortHash('')));
  return Buffer.byteLength(path) < MAX_SOCKET_PATH_BYTES;
}

/** Removes the folder outside the data folder when no socket is needed any more. */
export async function removePrivateFolder(dataDir: string): Promise<void> {
  const path = privatePath(dataDir);
  const found = await lstat(path).catch(() => null);
  if (found !== null && isOwn(found)) await rm(path, { recursive: true, force: true });
}

async function privateFolder(dataDir: string): Promise<string> {
  const path = privatePath(dataDir);
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  // Any user may create names in a temporary folder, so what is there already is checked, not trusted.
  if (!isOwn(await lstat(path))) {
    throw new EngineUnusable(`${path} belongs to another user. Remove it, or set CLAW_SOCKETS.`);
  }
  await chmod(path, 0o700);
  return path;
}

function privatePath(dataDir: string): string {
  return join(tmpdir(), `claw-${shortHash(dataDir)}`);
}

function isOwn(found: Stats): boolean {
  return found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid);
}
