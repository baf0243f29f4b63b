import { containedChanges, type LineRange, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import type { Resolution } from '../../installed/resolution.ts';
import { baseFile, modifiedFile } from '../../package/accessors.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { RELEASE, type ResolvedConflict } from '../resolve-conflict.ts';

/** Changes of a layer to one file that a release contains, though not all that the layer does. */
export type ContainedPart = {
  readonly layer: string;
  /** The file's path in the release. */
  readonly path: string;
  /** The changes that the layer makes to the file. */
  readonly changes: number;
  /** The lines of the release's file that are such a change already. */
  readonly lines: readonly LineRange[];
};

type Release = {
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly pathMaps: readonly PathMap[];
  /** The files that it changes: of others it contains nothing new. */
  readonly changed: readonly string[];
};

/** Finds the changes of layers that a release contains, change by change. */
export function findContainedParts(
  layers: readonly SkillPackage[],
  { releaseFile, pathMaps, changed }: Release,
): readonly ContainedPart[] {
  const news = new Set(changed);
  return layers.flatMap((layer) => {
    const { skill, modifies, coreVersion } = layer.manifest;
    return modifies.flatMap((named): readonly ContainedPart[] => {
      const path = mapPath(named, coreVersion, pathMaps);
      const [base, theirs] = [baseFile(layer, named), modifiedFile(layer, named)];
      const ours = news.has(path) ? releaseFile(path) : null;
      if (base === null || ours === null || theirs === null) return [];
      const { changes, contained: lines } = containedChanges({ base, ours, theirs });
      return lines.length === 0 ? [] : [{ layer: skill, path, changes, lines }];
    });
  });
}

/**
 * Says where layers whose commits a release has gave way to what it has made of them since.
 *
 * @param recorded where an earlier command may have noted it
 */
export function gaveWayNotes(
  resolved: readonly ResolvedConflict[],
  recorded: readonly Resolution[] = [],
): readonly string[] {
  const noted = new Set(recorded.filter(({ origin }) => origin === RELEASE).map(({ key }) => key));
  const places = resolved.flatMap(({ conflict: { path, layers }, decision, keys }) =>
    decision?.origin === RELEASE || keys.some((key) => noted.has(key))
      ? [{ layer: layers[1], path }]
      : [],
  );
  return [...Map.groupBy(places, ({ layer }) => layer)].map(([layer, own]) => {
    const paths = [...new Set(own.map(({ path }) => path))].join(', ');
    return (
      `The release contains the commits of ${layer} and has changed the same lines since: there it is as the release ` +
      `has it, in ${paths}. --keep ${layer} asks about them.`
    );
  });
}

/** Says why layers whose commits a release has are asked about, where the owner keeps them. */
export function keptNotes(
  conflicts: readonly Conflict[],
  kept: readonly string[],
): readonly string[] {
  const asked = new Set(
    conflicts.flatMap(({ layers }) => layers.flatMap((one) => one.split(', '))),
  );
  return kept
    .filter((name) => asked.has(name))
    .map(
      (name) =>
        `The release contains the commits of ${name}, which you keep: you are asked about each line that it has ` +
        'changed since. Without that word the release’s lines stay there, and nothing is asked.',
    );
}

/** Says for each layer what of it a release contains. */
export function containedNotes(parts: readonly ContainedPart[]): readonly string[] {
  return [...Map.groupBy(parts, ({ layer }) => layer)].map(([layer, own]) => {
    const files = own.map(({ path, changes, lines }) => {
      const places = lines.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
      const word = places.length === 1 && lines[0]?.[0] === lines[0]?.[1] ? 'line' : 'lines';
      return `${lines.length} of ${changes} in ${path} (${word} ${places.join(', ')} there)`;
    });
    return `The release contains changes of ${layer}, which are taken once: ${files.join('; ')}.`;
  });
}
