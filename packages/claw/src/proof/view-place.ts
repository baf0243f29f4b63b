import * as fs from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../digest.ts';
import { lstat } from '../package/regular-file.ts';

const MEMORY = '/dev/shm';
/** A larger tree is laid out on disk: memory is for the programs that run in it. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Memory that a view leaves free, for files that tests write and for other programs. */
const SPARE_BYTES = 512 * 1024 * 1024;

/** Beginnings of the paths of a project's views, on disk and in memory. */
export type ViewPlaces = {
  /** `<root>/.claw/tx/view-` */
  readonly disk: string;
  /** `/dev/shm/claw-<project>-view-`; null where this machine has no such memory. */
  readonly memory: string | null;
};

/** Returns where a project's views are, or may have been left by a command that was killed. */
export function viewPlaces(root: string): ViewPlaces {
  const project = digestBytes(root).replace(/^.*:/, '').slice(0, 16);
  return {
    disk: join(root, '.claw/tx', 'view-'),
    memory: hasMemory() ? join(MEMORY, `claw-${project}-view-`) : null,
  };
}

/**
 * Tells whether a tree is to be laid out in memory. Some disks take seconds to delete a thousand small files,
 * more than a proof takes to run.
 */
export function fitsInMemory(root: string, paths: readonly string[]): boolean {
  const { bavail, bsize } = fs.statfsSync(MEMORY);
  let left = Math.min(MAX_BYTES, bavail * bsize - SPARE_BYTES);
  for (const path of paths) left -= lstat(join(root, path))?.size ?? 0;
  return left >= 0;
}

let known: boolean | null = null;

/** Tells whether there is a file system in memory that programs can be run from. */
function hasMemory(): boolean {
  known ??= process.platform === 'linux' && isTmpfs();
  return known;
}

function isTmpfs(): boolean {
  try {
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    // Such as "31 24 0:26 / /dev/shm rw,nosuid - tmpfs tmpfs rw"; a later mount covers an earlier one.
    const mount = mounts.findLast((line) => line.split(' ')[4] === MEMORY) ?? '';
    const options = mount.split(' ')[5]?.split(',') ?? [];
    fs.accessSync(MEMORY, fs.constants.W_OK);
    return / - tmpfs /.test(mount) && !options.includes('noexec') && !options.includes('ro');
  } catch {
    return false; // Not there, or not for us.
  }
}
