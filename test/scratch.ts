import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { currentBuild } from '../packages/claw/build/current.js';

const MEMORY = '/dev/shm';
/** A run of all tests has a few hundred megabytes at a time. */
const NEEDED_BYTES = 4 * 1024 ** 3;

let folder: string | null = null;

/** Builds `claw` first, so that a test that counts what a command does counts no build. */
export async function setup(): Promise<void> {
  await currentBuild(join(import.meta.dirname, '..'));
  makeScratch();
}

/**
 * Gives the tests a folder for their temporary files in memory, where there is enough of it: they make and
 * delete a hundred thousand small files, which some disks take longer for than the tests. Elsewhere they use
 * the system's own folder.
 */
function makeScratch(): void {
  if (process.env['TMPDIR'] !== undefined || !hasMemory()) return;
  folder = mkdtempSync(join(MEMORY, 'claw-'));
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}

function hasMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const mount = mounts.findLast((line) => line.split(' ')[4] === MEMORY)?.split(' ') ?? [];
    const options = mount[5]?.split(',') ?? ['noexec'];
    return bavail * bsize >= NEEDED_BYTES && !options.includes('noexec');
  } catch {
    return false; // Not there, or not for us.
  }
}
