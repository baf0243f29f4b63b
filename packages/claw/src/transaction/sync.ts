import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { syncPath } from './recover.js';

/** Files between two looks at how slow the disk is. */
const BETWEEN_LOOKS = 10;
/** More than one call for the whole file system takes, with the small program that makes it. */
const WORTH_THE_WHOLE_MS = 20;
/** More than starting a Node takes, on a slow machine as well. */
const WORTH_A_PROCESS_MS = 100;
const WORTH_A_PROCESS_FILES = 100;

/** Paths from which on one call for the whole file system is worth the process that makes it. */
export const WORTH_THE_WHOLE = 50;

/**
 * Makes files and folders outlive a power failure. The disk is asked for one after the other until it is seen to be
 * slow; the rest is then synced by one call for the file system, or where that is not to be trusted, by a process
 * of its own that asks for all at once, which a disk answers together. Commits stay synchronous, so it cannot be
 * done in this one.
 *
 * @throws the error of the disk, with its code
 */
export function syncPaths(paths: readonly string[]): void {
  const started = performance.now();
  let [isWholeTried, isAlone] = [false, false];
  for (const [index, path] of paths.entries()) {
    const left = paths.length - index;
    if (index > 0 && index % BETWEEN_LOOKS === 0) {
      const msLeft = ((performance.now() - started) / index) * left;
      if (!isWholeTried && left >= WORTH_THE_WHOLE && msLeft > WORTH_THE_WHOLE_MS) {
        if (syncFileSystem(new Set(paths.slice(index).map((each) => dirname(each))))) return;
        isWholeTried = true;
      }
      if (!isAlone && left >= WORTH_A_PROCESS_FILES && msLeft > WORTH_A_PROCESS_MS) {
        if (syncAtOnce(paths.slice(index))) return;
        isAlone = true;
      }
    }
    syncPath(path);
  }
}

/** Runs in the other process: the paths come in by standard input, the first error leaves by standard output. */
const SYNC_AT_ONCE = `
process.env.UV_THREADPOOL_SIZE = '64';
const fs = require('node:fs');
const paths = JSON.parse(fs.readFileSync(0, 'utf8'));
const fail = ({ message, code }) => {
  fs.writeSync(1, JSON.stringify({ message, code }));
  process.exit(1);
};
let at = 0;
const next = () => {
  if (at === paths.length) return;
  fs.open(paths[at++], 'r', (error, file) => {
    if (error) return fail(error);
    fs.fsync(file, (error) => {
      if (error) return fail(error);
      fs.close(file, next);
    });
  });
};
for (let count = 0; count < 64; count += 1) next();
`;

/** @returns false where no such process could be run to its end; what it did already does no harm */
function syncAtOnce(paths: readonly string[]): boolean {
  const run = spawnSync(process.execPath, ['--eval', SYNC_AT_ONCE], {
    input: JSON.stringify(paths),
    encoding: 'utf8',
  });
  if (run.status === 0) return true;
  if (run.status !== 1 || run.stdout === '') return false;
  // The disk tells an error of writing once: asked again, it would say that all is well.
  const { message, code } = JSON.parse(run.stdout) as { message: string; code: string };
  throw Object.assign(new Error(message), { code });
}

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
