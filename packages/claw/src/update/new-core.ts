import { lt, valid } from 'semver';
import type { Release } from '../installed/release.ts';
import { LOCK } from '../operation/npm/npm.ts';
import type { NewCore } from '../operation/target/target.ts';
import { mapPath, type PathMap, unmapPath } from '../package/manifest/path-map.ts';
import type { OldCore } from './old-core.ts';

type Next = {
  readonly release: Release;
  readonly pathMaps: readonly PathMap[];
  /** The path maps of the old core. */
  readonly oldMaps: readonly PathMap[];
  /** Tells whether a release counts a path as core; other paths are not its to change. */
  readonly isCore: (path: string) => boolean;
  /** The paths that layers composed on the old core. */
  readonly touched: readonly string[];
};

/** Compares two releases: the files that differ, and those that moved. */
export function newCore(
  old: OldCore,
  { release, pathMaps, oldMaps, isCore, touched }: Next,
): NewCore {
  const moves = new Map<string, string>();
  const known = new Set(oldMaps.map((map) => JSON.stringify(map)));
  // Without a version, what the old core lists tells what it has done already.
  const newer = pathMaps.filter(
    (map) => (valid(old.version) && map.since !== null) || !known.has(JSON.stringify(map)),
  );
  const isBack = isOlder(release.version, old.version);
  for (const path of [...old.paths, ...touched]) {
    const to = isBack
      ? unmapPath(path, release.version, oldMaps)
      : mapPath(path, old.version, newer);
    if (to !== path) moves.set(path, to);
  }
  const { files } = release.digests;
  const both = new Set([...old.paths, ...files.keys()]);
  const changed = [...both]
    .filter((path) => isCore(path) && old.digestOf(path) !== files.get(path))
    // npm makes it, from the locks of both.
    .filter((path) => path !== LOCK)
    .sort();
  return {
    releaseFile: (path) => release.files.get(path) ?? null,
    pathMaps,
    moves,
    changed,
  };
}

/** Tells whether one version comes before another; false for an unknown version. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || valid(one) === null || valid(other) === null) return false;
  return lt(one, other);
}
