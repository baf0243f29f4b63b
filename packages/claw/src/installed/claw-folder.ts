import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { digestFile, type FileDigest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { readTreeFile, treeReader } from './disk.ts';

/** Folders of `.claw/` whose bytes are committed with the project. */
export const BASE = '.claw/base';
export const COMPOSED = '.claw/composed';
export const PACKAGES = '.claw/packages';
export const CUSTOM = '.claw/custom';
export const RESOLUTIONS = '.claw/resolutions';
export const KEPT_LOCK = '.claw/package-lock.json';

/**
 * Returns the file that a skill's package is kept in, whole. One file takes a fraction of the time that some ten
 * files with their folders take on disk.
 */
export function packedPlace(name: string): string {
  return `${PACKAGES}/${name}.package`;
}

/** Returns the folder of the ancestors found for a package. No package's name has a dot in it. */
export function inferredPlace(name: string): string {
  return `${PACKAGES}/${name}.bases`;
}

/** Matches names that git reads in any folder, as they are and as they are kept. */
const STEERS_GIT = /^\.git(ignore|attributes|modules)(\.kept)*$/i;

/**
 * Returns the place of a file below one of these folders. A `.gitignore` or `.gitattributes` of the core
 * would steer git here as well, and a clone would lack files or get other bytes: such files are kept as
 * `.gitignore.kept`. No two paths are kept at one place.
 */
export function keptPath(folder: string, path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return STEERS_GIT.test(name) ? `${folder}/${path}.kept` : `${folder}/${path}`;
}

/** The digests that `state.yaml` pins, by path. */
type PinnedFiles = { readonly files: ReadonlyMap<string, FileDigest | 'deleted'> };

/**
 * Returns a file that layers touch, as the last command published it.
 *
 * @param read reads a file of the project
 * @throws ClawError DIGEST_MISMATCH when the kept bytes are not those that `state.yaml` pins
 */
export function readComposed(
  read: (path: string) => TreeFile | null,
  { files }: PinnedFiles,
  path: string,
): TreeFile | null {
  const pinned = files.get(path);
  if (pinned === undefined || pinned === 'deleted') return null;
  const place = keptPath(COMPOSED, path);
  const file = read(place);
  if (file && digestFile(file) === pinned) return file;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${place} does not match its digest in .claw/state.yaml. Restore .claw/ from git, or run claw replay.`,
    { path: place },
  );
}

/** A layer's package, as `state.yaml` names it. */
type PackageName = { readonly kind: 'skill' | 'customisation'; readonly name: string };

/**
 * Returns the places where a layer's package may be kept, the present form first. Earlier engines kept
 * a skill's as a folder; a customisation, which the owner may want to read, still is one.
 */
export function packagePlaces({ kind, name }: PackageName): readonly [string, ...string[]] {
  if (kind === 'customisation') return [`${CUSTOM}/${name}`];
  return [packedPlace(name), `${PACKAGES}/${name}`];
}

/** Returns the files of a package that is kept at one of its places; none where it is missing or damaged. */
export function readPackageFiles(root: string, place: string): Tree {
  if (!place.endsWith('.package')) return readFolder(root, place);
  const file = readTreeFile(root, place);
  return (file && unpackFiles(file.bytes)) ?? new Map();
}

/** Returns every regular file kept below a folder, by its true path in it; an absent folder is empty. */
export function readFolder(root: string, folder: string): Tree {
  const tree = new Map<string, TreeFile>();
  const read = treeReader(root, folder);
  for (const [path, place] of listKept(root, folder)) {
    const file = read(place);
    if (file) tree.set(path, file);
  }
  return tree;
}

type PackedFile = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly isExecutable?: true;
};

/**
 * Returns files as one: a line of JSON that lists them by path, then their bytes in that order, unchanged. The
 * same files always give the same bytes.
 */
export function packFiles(files: Tree): Buffer {
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const entries = sorted.map(([path, { bytes, isExecutable }]): PackedFile => {
    const entry = { path, sizeBytes: bytes.length };
    return isExecutable ? { ...entry, isExecutable } : entry;
  });
  const head = Buffer.from(`${JSON.stringify({ files: entries })}\n`);
  return Buffer.concat([head, ...sorted.map(([, { bytes }]) => bytes)]);
}

/** Returns the files that were packed; null where the bytes are not whole. Their paths are not checked. */
export function unpackFiles(bytes: Buffer): Tree | null {
  let at = bytes.indexOf('\n') + 1;
  const tree = new Map<string, TreeFile>();
  for (const { path, sizeBytes, isExecutable = false } of readEntries(
    bytes.toString('utf8', 0, at),
  )) {
    tree.set(path, { bytes: bytes.subarray(at, at + sizeBytes), isExecutable });
    at += sizeBytes;
  }
  return tree.size > 0 && at === bytes.length ? tree : null;
}

function readEntries(head: string): readonly PackedFile[] {
  try {
    const value: unknown = JSON.parse(head);
    const files = typeof value === 'object' && value !== null && 'files' in value && value.files;
    return Array.isArray(files) && files.every(isEntry) ? files : [];
  } catch {
    return []; // Damaged, which the caller says: these are no files.
  }
}

function isEntry(value: unknown): value is PackedFile {
  if (typeof value !== 'object' || value === null) return false;
  if (!('path' in value && 'sizeBytes' in value) || typeof value.path !== 'string') return false;
  if (typeof value.sizeBytes !== 'number' || !Number.isSafeInteger(value.sizeBytes)) return false;
  return value.sizeBytes >= 0 && (!('isExecutable' in value) || value.isExecutable === true);
}

/** Returns those of the named files that are kept below a folder, by their true paths in it. */
export function readKeptFiles(root: string, folder: string, paths: readonly string[]): Tree {
  const tree = new Map<string, TreeFile>();
  const read = treeReader(root);
  for (const path of paths) {
    const file = read(keptPath(folder, path));
    if (file) tree.set(path, file);
  }
  return tree;
}

/** Lists the files kept below a folder: the true path in it, and the place. */
export function listKept(
  root: string,
  folder: string,
): readonly (readonly [path: string, place: string])[] {
  return listFolder(join(root, folder)).map((kept) => [truePath(kept), `${folder}/${kept}`]);
}

/**
 * Returns the paths of the files below a folder on disk, sorted; links and special files included, unopened.
 */
export function listFolder(folder: string): readonly string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const entry of readDirents(`${folder}/${below}`)) {
      const path = below + entry.name;
      if (entry.isDirectory()) walk(`${path}/`);
      else found.push(path);
    }
  };
  walk('');
  return found.sort();
}

/** Returns the names in a folder on disk; none where there is no folder. */
export function listEntries(folder: string): readonly string[] {
  return readDirents(folder).map(({ name }) => name);
}

function truePath(kept: string): string {
  const name = kept.slice(kept.lastIndexOf('/') + 1);
  return STEERS_GIT.test(name) ? kept.replace(/\.kept$/, '') : kept;
}

function readDirents(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
