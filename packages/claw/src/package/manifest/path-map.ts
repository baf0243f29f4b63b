import { compare, gt, valid } from 'semver';

/**
 * Moves of core files or whole folders by a release: old path → new path. Without a version the owner
 * declared the move, where versions do not tell, and it holds for every package.
 */
export type PathMap = {
  readonly since: string | null;
  readonly paths: Readonly<Record<string, string>>;
};

/**
 * Returns the present path of a file from its path in a core of some version: applies every move since then,
 * in the order of the releases. A core without a version is older than all moves.
 *
 * @param maps in the order of their versions
 */
export function mapPath(path: string, version: string | null, maps: readonly PathMap[]): string {
  const later = maps.filter(({ since }) => isLater(since, version));
  return later.reduce((at, { paths }) => moved(at, paths), path);
}

/** Tells whether releases since a version moved anything. */
export function hasMoves(version: string | null, maps: readonly PathMap[]): boolean {
  return maps.some(({ since }) => isLater(since, version));
}

/**
 * Returns the path that a file had in an older core: what `mapPath` does, taken back.
 *
 * @param version of the older core
 */
export function unmapPath(path: string, version: string | null, maps: readonly PathMap[]): string {
  const later = maps.filter(({ since }) => isLater(since, version)).reverse();
  return later.reduce((at, { paths }) => moved(at, inverted(paths)), path);
}

/** Moves in the order of their versions; those without one came last. */
export function sortedMaps(maps: readonly PathMap[]): readonly PathMap[] {
  return [...maps].sort(({ since: one }, { since: other }) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return compare(one, other);
  });
}

/** Tells whether a release came later; a core without a version is older than every release. */
function isLater(since: string | null, version: string | null): boolean {
  return since === null || version === null || valid(version) === null || gt(since, version);
}

function inverted(paths: PathMap['paths']): PathMap['paths'] {
  return Object.fromEntries(Object.entries(paths).map(([from, to]) => [to, from]));
}

function moved(path: string, paths: PathMap['paths']): string {
  if (Object.hasOwn(paths, path)) return paths[path] ?? path;
  // The longest folder is the most particular word on a path.
  const folders = Object.entries(paths)
    .map(([from, to]) => [asFolder(from), asFolder(to)] as const)
    .filter(([from]) => path.startsWith(from));
  const [found] = folders.sort(([one], [other]) => other.length - one.length);
  return found === undefined ? path : found[1] + path.slice(found[0].length);
}

// Below a file there is nothing, so what has something below it is a folder.
function asFolder(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

/** Adds moves that the owner declared to those that a release lists. */
export function withDeclared(
  listed: readonly PathMap[],
  declared: readonly (PathMap | null)[],
): readonly PathMap[] {
  const all = [...listed, ...declared.filter((one) => one !== null)];
  const texts = all.map((one) => JSON.stringify(one));
  return sortedMaps(all.filter((_, at) => texts.indexOf(texts[at] ?? '') === at));
}
