import { ClawError } from '../../errors.ts';
import { showPath } from './paths.ts';

/** Two paths that some disk takes for one, or of which one would have to be a folder of the other. */
export type Collision = { readonly path: string; readonly other: string };

/**
 * Finds targets that cannot coexist with each other, or with existing files, on every disk.
 *
 * Targets are compared under NFC and case folding. A target that *is* an existing file, spelled the same, is
 * no collision: that is a change of the file.
 *
 * @param targets paths that will be written, each listed once
 * @param existing paths of files that stay, without those that the same package moves away
 */
export function findCollisions(
  targets: readonly string[],
  existing: readonly string[],
): readonly Collision[] {
  if (targets.length === 0) return [];
  const there = indexOf(existing);
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const fileAt = (key: string) => files.get(key) ?? there.files.get(key);

  const collisions: Collision[] = [];
  for (const path of targets) {
    if (there.present.has(path)) continue;
    const key = fold(path);
    const same = fileAt(key);
    const other =
      (same === path ? undefined : same) ??
      there.folders.get(key) ??
      folders.get(key) ??
      parentsOf(key)
        .map(fileAt)
        .find((file) => file !== undefined);
    if (other !== undefined) collisions.push({ path, other });
    register(path, files, folders);
  }
  return collisions;
}

/** @throws ClawError PATH_COLLISION whose path is the first target that collides */
export function checkCollisions(targets: readonly string[], existing: readonly string[]): void {
  const [collision] = findCollisions(targets, existing);
  if (collision === undefined) return;
  const [path, other] = [showPath(collision.path), showPath(collision.other)];
  throw new ClawError(
    'PATH_COLLISION',
    `${path} and ${other} cannot both exist on every disk. Rename one of them.`,
    { path, data: { other } },
  );
}

type Index = {
  readonly present: ReadonlySet<string>;
  /** By their folded paths. */
  readonly files: ReadonlyMap<string, string>;
  /** A file below each folder. */
  readonly folders: ReadonlyMap<string, string>;
};

/** The indexes of lists, which do not change: a command checks many packages against the same one. */
const INDEXES = new WeakMap<readonly string[], Index>();

function indexOf(existing: readonly string[]): Index {
  const known = INDEXES.get(existing);
  if (known !== undefined) return known;
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const present = new Set(existing);
  for (const path of present) register(path, files, folders);
  const index = { present, files, folders };
  INDEXES.set(existing, index);
  return index;
}

function register(path: string, files: Map<string, string>, folders: Map<string, string>): void {
  const key = fold(path);
  files.set(key, path);
  // Those above a known folder are known as well.
  for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) {
    const folder = key.slice(0, end);
    if (folders.has(folder)) return;
    folders.set(folder, path);
  }
}

/** Returns `a` and `a/b` for `a/b/c`. */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

// Upper case last, because it is where the two lower-case sigmas and `ß` with `ss` meet.
function fold(path: string): string {
  if (/^[\x20-\x7e]*$/.test(path)) return path.toUpperCase();
  return path.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}
