import { globSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { lstat } from '../../package/regular-file.ts';

/** A limit, in case a package folder holds far more than a package. */
const MOST_FILES = 50_000;
const NOT_OF_A_PACKAGE = new Set(['node_modules', '.git', '.claw']);

const Specs = z.record(z.string(), z.string()).catch({});
const Manifest = z.object({
  dependencies: Specs,
  devDependencies: Specs,
  optionalDependencies: Specs,
  overrides: z.unknown().optional(),
  workspaces: z
    .union([z.array(z.string()), z.object({ packages: z.array(z.string()) })])
    .optional()
    .catch(undefined),
});

/** Packages in the project itself that npm reads where they lie. */
export type LocalPackages = {
  /** Files on disk, relative to the root. */
  readonly paths: readonly string[];
  /** Tells whether a path is such a package, or in the folder of one. */
  readonly has: (path: string) => boolean;
};

/**
 * Finds the packages of a `package.json` that are in the project: `file:` dependencies that are a folder or a
 * tarball, workspaces, and the packages that these name in turn. Packages outside the project are ignored.
 *
 * @param read reads a file of the planned tree; null for one that is not there
 */
export function localPackages(root: string, read: (path: string) => Buffer | null): LocalPackages {
  const places = new Set<string>();
  const look = (folder: string): void => {
    const manifest = parse(read(join(folder, 'package.json')));
    for (const place of manifest === null ? [] : named(root, folder, manifest)) {
      if (places.has(place) || isBehindLink(root, place)) continue;
      places.add(place);
      look(place);
    }
  };
  look('');
  const paths = new Set<string>();
  for (const place of places) addFiles(root, place, paths);
  const isAt = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
  return { paths: [...paths], has: (path) => [...places].some((place) => isAt(path, place)) };
}

function named(root: string, folder: string, manifest: z.infer<typeof Manifest>): Set<string> {
  const { dependencies, devDependencies, optionalDependencies, overrides, workspaces } = manifest;
  const specs = [dependencies, devDependencies, optionalDependencies].flatMap(Object.values);
  const globs = folder === '' ? [workspaces ?? []].flat().flatMap(patternsOf) : [];
  const found = globs.flatMap((glob) => globSync(glob, { cwd: root, exclude: isForeign }));
  const local = [...specs, ...stringsIn(overrides)].flatMap((spec) => {
    const path = /^file:(?:\/\/)?(.+)$/.exec(spec)?.[1] ?? (/^\.\.?\//.test(spec) ? spec : null);
    return path === null ? [] : [posix.join(folder, path)];
  });
  const all = [...found, ...local].map((path) => posix.normalize(path).replace(/\/+$/, ''));
  return new Set(all.filter((path) => path !== '.' && !/^(?:\.\.(?:\/|$)|\/)/.test(path)));
}

function patternsOf(value: string | { readonly packages: readonly string[] }): readonly string[] {
  const patterns = typeof value === 'string' ? [value] : value.packages;
  // A pattern that takes packages out again may as well leave them in: npm reads the same list.
  return patterns.filter((pattern) => !pattern.startsWith('!') && !pattern.includes('..'));
}

/** Tells whether a path, or a folder on the way to it, is a link: it could lead to files outside of the project. */
function isBehindLink(root: string, path: string): boolean {
  const parts = path.split('/');
  return parts.some((_, at) => lstat(join(root, ...parts.slice(0, at + 1)))?.isSymbolicLink());
}

function isForeign(name: string): boolean {
  return NOT_OF_A_PACKAGE.has(posix.basename(name));
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function parse(bytes: Buffer | null): z.infer<typeof Manifest> | null {
  if (bytes === null) return null;
  try {
    return Manifest.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    return null; // npm says what is wrong with it.
  }
}

/** Adds the files of a place. Follows no link: a package has none that npm would take. */
function addFiles(root: string, place: string, paths: Set<string>): void {
  const waiting = [place];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stat = lstat(join(root, path));
    if (stat?.isFile()) paths.add(path);
    if (paths.size >= MOST_FILES) return;
    if (!stat?.isDirectory()) continue;
    for (const name of readdirSync(join(root, path))) {
      if (!NOT_OF_A_PACKAGE.has(name)) waiting.push(posix.join(path, name));
    }
  }
}
