import { posix } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { checkSize, type IrregularEntry, isForeign } from '../package-from-files.ts';

/** A file of a commit, unread. */
export type BlobEntry = {
  readonly path: string;
  readonly oid: string;
  readonly size: number;
  readonly isExecutable: boolean;
};

/** The content of a folder of a commit. */
export type CommitFolder = {
  readonly entries: readonly BlobEntry[];
  readonly irregular: readonly IrregularEntry[];
};

/**
 * Reads what `git ls-tree -r -z -l` printed of a commit.
 *
 * @param folder empty for all of it
 * @throws ClawError SKILL_NOT_FOUND with the folders that hold packages, LIMIT_EXCEEDED
 */
export function listCommit(listing: string, folder: string): CommitFolder {
  const entries: BlobEntry[] = [];
  const irregular: IrregularEntry[] = [];
  const packages: string[] = [];
  let bytes = 0;
  for (const line of listing.split('\0')) {
    const [, mode, oid, size, whole] = /^(\d+) \w+ (\w+) +(\d+|-)\t([\s\S]+)$/.exec(line) ?? [];
    if (!mode || !oid || !size || !whole) continue;
    if (posix.basename(whole) === 'manifest.yaml') packages.push(posix.dirname(whole));
    if (folder !== '' && !whole.startsWith(`${folder}/`)) continue;
    const path = folder === '' ? whole : whole.slice(folder.length + 1);
    if (isForeign(path)) continue;
    if (!mode.startsWith('100')) {
      irregular.push({ path, kind: mode === '120000' ? 'link' : 'special' });
      continue;
    }
    bytes += Number(size);
    entries.push({ path, oid, size: Number(size), isExecutable: mode === '100755' });
    checkSize({ files: entries.length, bytes });
  }
  const isPackage = folder !== '' || packages.includes('.');
  if (entries.length === 0 || !isPackage) throw noFolder(folder, packages);
  return { entries, irregular };
}

/** Writes the input of `git cat-file --batch`. */
export function requestBlobs(entries: readonly BlobEntry[]): string {
  return entries.map(({ oid }) => `${oid}\n`).join('');
}

/** Cuts what it answered into files. */
export function parseBlobs(output: unknown, entries: readonly BlobEntry[]): Tree {
  if (!Buffer.isBuffer(output)) throw new TypeError('git cat-file gave no bytes');
  const files = new Map<string, TreeFile>();
  let at = 0;
  for (const { path, oid, isExecutable, size } of entries) {
    const announced = `${oid} blob ${size}\n`;
    const start = at + announced.length;
    if (output.toString('latin1', at, start) !== announced) {
      throw new Error(`it has lost the content of ${path}`);
    }
    files.set(path, { bytes: output.subarray(start, start + size), isExecutable });
    at = start + size + 1;
  }
  return files;
}

function noFolder(folder: string, packages: readonly string[]): ClawError {
  const hint =
    packages.length === 0
      ? 'It holds no package at all.'
      : `It has packages in: ${packages.slice(0, 10).join(', ')}.`;
  const what =
    folder === ''
      ? 'At the top of the repository is no package.'
      : `The repository has no folder "${folder}" in that commit.`;
  return new ClawError(
    'SKILL_NOT_FOUND',
    `${what} ${hint} Behind the address it is #folder, or #ref:folder.`,
    { path: folder, data: { nearest: packages.slice(0, 10) } },
  );
}
