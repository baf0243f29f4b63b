import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { checkPath } from './checks/paths.ts';
import type { SkillPackage } from './package.ts';
import {
  checkSize,
  type IrregularEntry,
  isForeign,
  type PackageOptions,
  packageFromFiles,
} from './package-from-files.ts';
import { readBytes } from './regular-file.ts';

// A target's 32 parts and the folder in front of them; what is deeper is refused before it is walked.
const MAX_WALK_DEPTH = 33;

/**
 * Reads a skill's folder once, whole, and checks it. Links and special files are recognised without
 * opening them, so neither a FIFO nor a link to a secret can be read by mistake.
 *
 * @throws ClawError SKILL_NOT_FOUND where there is no folder, IO_FAILED where it cannot be read, and
 * whatever `packageFromFiles` refuses
 */
export function readPackage(folder: string, options: PackageOptions): SkillPackage {
  const files = new Map<string, TreeFile>();
  const irregular: IrregularEntry[] = [];
  let sizeBytes = 0;
  for (const { path, entry } of walk(folder)) {
    if (!entry.isFile()) {
      irregular.push({ path, kind: entry.isSymbolicLink() ? 'link' : 'special' });
      continue;
    }
    const accept = (bytes: number) => {
      sizeBytes += bytes;
      checkSize({ files: files.size + 1, bytes: sizeBytes });
    };
    const file = attempt(folder, path, () => readRegularFile(`${folder}/${path}`, accept));
    if (file === null) irregular.push({ path, kind: 'special' });
    else files.set(path, file);
  }
  return packageFromFiles(files, options, irregular);
}

function* walk(folder: string): Generator<{ path: string; entry: Dirent }> {
  const folders = [''];
  let seen = 0;
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    const here = at;
    const entries = attempt(folder, here, () =>
      readdirSync(`${folder}/${here}`, { withFileTypes: true }),
    );
    for (const entry of entries) {
      const path = here === '' ? entry.name : `${here}/${entry.name}`;
      if (isForeign(path)) continue;
      // Node decodes a name that is no UTF-8 into one that is not on the disk.
      if (entry.name.includes('\uFFFD')) checkPath(path);
      if (!entry.isDirectory()) {
        yield { path, entry };
        continue;
      }
      if (path.split('/').length > MAX_WALK_DEPTH) checkPath(path);
      seen += 1;
      checkSize({ files: seen, bytes: 0 });
      folders.push(path);
    }
  }
}

/**
 * Reads a file, if `accept` does not throw on its size; null when the entry is no longer the regular file that
 * the walk saw.
 */
function readRegularFile(path: string, accept: (bytes: number) => void): TreeFile | null {
  // Another process may have put a link or a FIFO there since: neither is followed or waited for.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = openSync(path, flags);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return null;
    accept(stats.size);
    return { bytes: readBytes(handle, stats.size), isExecutable: (stats.mode & 0o100) !== 0 };
  } finally {
    closeSync(handle);
  }
}

function attempt<T>(folder: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ClawError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : null;
    if (path === '' && (code === 'ENOENT' || code === 'ENOTDIR')) {
      throw new ClawError('SKILL_NOT_FOUND', `There is no skill folder at ${folder}.`, {
        path: folder,
        cause,
      });
    }
    throw new ClawError('IO_FAILED', `${join(folder, path)} cannot be read (${String(code)}).`, {
      path: path === '' ? folder : path,
      cause,
    });
  }
}
