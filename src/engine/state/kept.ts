import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { Tree, TreeFile } from '../tree.ts';
import { readTreeFile } from './disk.ts';
import type { State } from './state-file.ts';

/** Folders of `.claw/` whose bytes are committed with the project. */
export const BASE = '.claw/base';
export const COMPOSED = '.claw/composed';
export const PACKAGES = '.claw/packages';
export const KEPT_LOCK = '.claw/package-lock.json';

/**
 * A file that layers touch, as the last command published it.
 *
 * @throws ClawError DIGEST_MISMATCH when the kept bytes are not those that `state.yaml` pins
 */
export function readComposed(root: string, state: State, path: string): TreeFile | null {
  const pinned = state.files.get(path);
  if (pinned === undefined || pinned === 'deleted') return null;
  const file = readTreeFile(root, `${COMPOSED}/${path}`);
  if (file && digestFile(file) === pinned) return file;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${COMPOSED}/${path} is not what .claw/state.yaml pins. Take .claw/ back from git, or run claw replay.`,
    { path: `${COMPOSED}/${path}` },
  );
}

/** Every regular file below a folder, by its path in it; an absent folder is empty. */
export function readFolder(root: string, folder: string): Tree {
  const tree = new Map<string, TreeFile>();
  for (const path of listFolder(join(root, folder))) {
    const file = readTreeFile(root, `${folder}/${path}`);
    if (file) tree.set(path, file);
  }
  return tree;
}

/** Paths of the files below a folder on disk, sorted; links and special files included, unopened. */
export function listFolder(folder: string): readonly string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const entry of entriesOf(join(folder, below))) {
      const path = below + entry.name;
      if (entry.isDirectory()) walk(`${path}/`);
      else found.push(path);
    }
  };
  walk('');
  return found.sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
