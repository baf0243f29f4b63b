import { findCollisions } from '../../package/checks/collisions.ts';
import { targetsOf } from '../../package/checks/targets.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { collide, hostPortsOf, showPorts } from '../../structured/docker-services/host-ports.ts';

/** Skills that are tried together, and what they have in common. */
export type Combination = {
  /** Sorted. */
  readonly skills: readonly string[];
  readonly shares: readonly string[];
};

/**
 * Returns every pair that shares a file or a key of a structured file, or in which one excludes the other. Only these
 * can compose to anything but the sum of both.
 *
 * @param packages by name
 */
export function pairsOf(
  packages: readonly SkillPackage[],
  pathMaps: readonly PathMap[],
): readonly Combination[] {
  return packages.flatMap((one, at) =>
    packages.slice(at + 1).flatMap((other) => {
      const shares = sharedBy(one, other, pathMaps);
      if (shares.length === 0 && !exclude(one, other)) return [];
      return [{ skills: [one.manifest.skill, other.manifest.skill], shares }];
    }),
  );
}

/**
 * Returns triples in which all three meet at one place: there a merge can go wrong although every pair composes.
 * Triples with most such places come first, then by name.
 *
 * @param sound combinations without a failure, pairs among them; a triple with a failing skill or pair would
 *   only repeat that
 */
export function triplesOf(sound: readonly Combination[], limit: number): readonly Combination[] {
  const pairs = sound.filter(({ skills }) => skills.length === 2);
  const known = new Map(pairs.map((pair) => [pair.skills.join('\n'), pair.shares]));
  const names = [...new Set(pairs.flatMap(({ skills }) => skills))].sort();
  const triples = pairs.flatMap(({ skills: [one = '', other = ''], shares }) =>
    names
      .filter((third) => third > other)
      .flatMap((third) => {
        const [left, right] = [known.get(`${one}\n${third}`), known.get(`${other}\n${third}`)];
        const common = shares.filter((key) => left?.includes(key) && right?.includes(key));
        return common.length === 0 ? [] : [{ skills: [one, other, third], shares: common }];
      }),
  );
  // Pairs come by name and so do these; sorting is stable.
  return triples.sort((one, other) => other.shares.length - one.shares.length).slice(0, limit);
}

/** Tells whether one of them says that it cannot be with the other. */
function exclude(one: SkillPackage, other: SkillPackage): boolean {
  return (
    one.manifest.conflicts.includes(other.manifest.skill) ||
    other.manifest.conflicts.includes(one.manifest.skill)
  );
}

function sharedBy(
  one: SkillPackage,
  other: SkillPackage,
  pathMaps: readonly PathMap[],
): readonly string[] {
  const [left, right] = [one, other].map((layer) => ({
    paths: pathsOf(layer, pathMaps),
    keys: keysOf(layer),
    ports: Object.values(layer.manifest.structured.composeServices).flatMap(hostPortsOf),
  }));
  if (left === undefined || right === undefined) return [];
  const same = left.paths.filter((path) => right.paths.includes(path));
  const unlike = findCollisions(left.paths, right.paths).map(
    ({ path, other: at }) => `${path}:${at}`,
  );
  const keys = left.keys.filter((key) => right.keys.includes(key));
  const ports = left.ports
    .filter((port) => right.ports.some((taken) => collide(port, taken)))
    .map((port) => `port:${showPorts(port)}`);
  return [...new Set([...same, ...unlike, ...keys, ...ports])].sort();
}

/** Returns the present paths of everything that a package writes, moves or deletes; a move has two. */
function pathsOf({ manifest }: SkillPackage, pathMaps: readonly PathMap[]): readonly string[] {
  const paths = targetsOf(manifest).map((path) => mapPath(path, manifest.coreVersion, pathMaps));
  return [...new Set(paths)];
}

// A path cannot hold a colon, so no key is taken for one.
function keysOf({ manifest }: SkillPackage): readonly string[] {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  return [
    ...Object.keys(npmDependencies).map((name) => `npm:${name}`),
    ...envAdditions.map(({ name }) => `env:${name}`),
    ...Object.keys(composeServices).map((name) => `service:${name}`),
    ...Object.keys(container.npmDependencies).map((name) => `image-npm:${name}`),
    ...container.aptPackages.map((name) => `image-apt:${name}`),
  ];
}
