import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { release } from 'node:os';

/** Paths from which on one call for the whole file system is worth the process that makes it. */
export const WORTH_THE_WHOLE = 50;
/** Bytes that may wait for the disks, those of other programs among them: the call waits for all. */
const MOST_BYTES = 256 * 1024 * 1024;
/** The first Linux whose call for a file system reports errors of writing that it did not meet itself. */
const TELLS_ERRORS = [5, 8] as const;
/** ext2 to ext4, XFS, Btrfs and F2FS, as statfs(2) names them. FUSE and others answer before all is written. */
const TRUSTED: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010];

/**
 * Makes everything on the file system of some folders outlive a power failure, by one call for all files where
 * one for each takes a hundred times as long. Node has no such call, so `sync` of the system makes it.
 *
 * @param mostBytes what may wait for the disks, of all programs together
 * @returns false where it cannot, or did not succeed: then each file has to be asked for. That tells of an error
 *   too, since the kernel keeps the error of a file for whoever asks for the file
 */
export function syncFileSystem(folders: Iterable<string>, mostBytes = MOST_BYTES): boolean {
  const folder = trustedFolder(folders, mostBytes);
  if (folder === null) return false;
  return spawnSync('sync', ['-f', folder], { stdio: 'ignore' }).status === 0;
}

/** Does the same while this process goes on. @param signal ends the wait, with false */
export async function syncFileSystemMeanwhile(
  folders: Iterable<string>,
  signal?: AbortSignal,
): Promise<boolean> {
  const folder = trustedFolder(folders, MOST_BYTES);
  if (folder === null) return false;
  const child = spawn('sync', ['-f', folder], { stdio: 'ignore', ...(signal ? { signal } : {}) });
  return await new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

/** Returns one of the folders where a call for its file system does what one for each path would. */
function trustedFolder(folders: Iterable<string>, mostBytes: number): string | null {
  const all = [...folders];
  const [first] = all;
  if (first === undefined || process.platform !== 'linux' || !tellsErrors(release())) return null;
  if (new Set(all.map((folder) => statSync(folder).dev)).size > 1) return null;
  if (!TRUSTED.includes(statfsSync(first).type) || bytesToWrite() > mostBytes) return null;
  return first;
}

function tellsErrors(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > TELLS_ERRORS[0] || (major === TELLS_ERRORS[0] && minor >= TELLS_ERRORS[1]);
}

/** Reads what all programs together have written and no disk has yet, ours among it. */
function bytesToWrite(): number {
  try {
    const text = readFileSync('/proc/meminfo', 'utf8');
    const kilobytes = [...text.matchAll(/^(?:Dirty|Writeback): +(\d+) kB$/gm)];
    return kilobytes.reduce((sum, [, count]) => sum + Number(count) * 1024, 0);
  } catch {
    return Number.POSITIVE_INFINITY; // Hidden, so that nobody knows how long it would take.
  }
}
