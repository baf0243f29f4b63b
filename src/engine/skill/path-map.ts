import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';

/** Where a release moved files of the core: old path → new path; a folder's ends with a slash. */
export type PathMap = { readonly since: string; readonly paths: Readonly<Record<string, string>> };

/**
 * The present path of a file that somebody knew in a core of some version: every move since then, in
 * the order of the releases. Whoever knew a core without a version knew it before all moves.
 *
 * @param maps in the order of their versions
 */
export function mapPath(path: string, version: string | null, maps: readonly PathMap[]): string {
  let at = path;
  for (const { since, paths } of maps) {
    if (version !== null && valid(version) !== null && !gt(since, version)) continue;
    at = moved(at, paths);
  }
  return at;
}

function moved(path: string, paths: PathMap['paths']): string {
  const exact = paths[path];
  if (exact !== undefined) return exact;
  // The longest folder is the most particular word on a path.
  const folders = Object.keys(paths).filter((from) => from.endsWith('/') && path.startsWith(from));
  const [from] = folders.sort((one, other) => other.length - one.length);
  return from === undefined ? path : `${paths[from]}${path.slice(from.length)}`;
}
