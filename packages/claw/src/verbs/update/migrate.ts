import type { Tree } from '@patchclaw/merge';
import { gt, lte, satisfies, valid } from 'semver';
import { ClawError } from '../../errors.ts';
import type { CodebaseConfig } from '../../installed/config.ts';
import type { Migration } from '../../installed/migrations.ts';
import { checkStructured } from '../../package/checks/contents.ts';
import {
  createCustomisationProtection,
  createProtection,
} from '../../package/checks/protection.ts';
import { targetsOf } from '../../package/checks/targets.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';

/**
 * Returns the migrations between two releases, in order. Unknown old version: all it did not list. Unknown
 * new version: all the new release lists.
 */
export function dueMigrations(
  migrations: readonly Migration[],
  from: { readonly version: string | null; readonly migrations: readonly Migration[] },
  to: string | null,
): readonly Migration[] {
  const { version } = from;
  const known = new Set(from.migrations.map((one) => JSON.stringify(one)));
  return migrations.filter((one) => {
    const isLater =
      version === null || valid(version) === null
        ? !known.has(JSON.stringify(one))
        : gt(one.since, version);
    const isReached = to === null || valid(to) === null || lte(one.since, to);
    return isLater && isReached;
  });
}

/**
 * Reports entries that a newer release no longer lists, although installations of older releases need them.
 */
export function lostMigrations(
  before: readonly Migration[],
  after: readonly Migration[],
): readonly string[] {
  const known = new Set(after.map((one) => JSON.stringify(one)));
  const lost = before.filter((one) => !known.has(JSON.stringify(one)));
  return lost.map(
    ({ since, description }) =>
      `The release's migrations.yaml has lost an entry of ${since}${description && ` (${description})`}: ` +
      'what it moved or kept is forgotten. Ask its maintainers.',
  );
}

/** The files that came with a release; migrations apply its packages. */
type MigrationSource = {
  readonly extras: Tree;
  /** As the new tree will have it. */
  readonly config: CodebaseConfig;
};

type Migrated = {
  readonly layers: readonly SkillPackage[];
  /** Skills that keep an old behaviour, applied by this update. */
  readonly applied: readonly string[];
  readonly retired: readonly string[];
  readonly notes: readonly string[];
};

/**
 * Returns the layers after all migrations, in their order: skills that keep an old behaviour join, skills that
 * the core took over go.
 *
 * @throws ClawError SKILL_NOT_FOUND for a migration whose skill the release lacks
 */
export function migrateLayers(
  installed: readonly SkillPackage[],
  due: readonly Migration[],
  source: MigrationSource,
): Migrated {
  let layers = [...installed];
  // By name, so that one that a later migration retires again was never there.
  const applied = new Map<string, string>();
  const retired = new Map<string, string>();
  for (const { since, description, skill, range, retire } of due) {
    const why = description === '' ? `since ${since}` : description;
    const isThere = (name: string) => layers.some(({ manifest }) => manifest.skill === name);
    if (skill !== null && !isThere(skill)) {
      layers.push(releasedPackage({ name: skill, range }, source));
      if (!retired.delete(skill)) applied.set(skill, why);
    }
    if (retire !== null && isThere(retire)) {
      layers = layers.filter(({ manifest }) => manifest.skill !== retire);
      if (!applied.delete(retire)) retired.set(retire, why);
    }
  }
  refuseOrphans(layers, [...retired.keys()]);
  return {
    layers,
    applied: [...applied.keys()],
    retired: [...retired.keys()],
    notes: [
      ...[...applied].map(
        ([name, why]) =>
          `${name} keeps things as they were (${why}); claw remove ${name} for the new way.`,
      ),
      ...[...retired].map(
        ([name, why]) => `${name} is retired: the core does it by itself (${why}).`,
      ),
    ],
  };
}

/** @throws ClawError SKILL_NEEDED for a skill that depends on one which the release takes away */
function refuseOrphans(layers: readonly SkillPackage[], retired: readonly string[]): void {
  for (const { manifest } of layers) {
    const needed = manifest.depends.find(({ name }) => retired.includes(name));
    if (needed === undefined) continue;
    throw new ClawError(
      'SKILL_NEEDED',
      `${manifest.skill} needs ${needed.name}, which this release retires. Remove ${manifest.skill} ` +
        'before the update, and apply a version of it that fits the new core afterwards.',
      { data: { skill: manifest.skill, needed: needed.name, range: needed.range, found: null } },
    );
  }
}

/**
 * Refuses moves of a release to paths that the packages may not touch, and files that it protects from now
 * on.
 *
 * @param before the settings under which the packages were accepted
 * @throws ClawError PATH_PROTECTED, STRUCTURED_ONLY
 */
export function checkMapped(
  layers: readonly SkillPackage[],
  pathMaps: readonly PathMap[],
  config: CodebaseConfig,
  before: CodebaseConfig = config,
): void {
  const own = createCustomisationProtection();
  const [then, now] = [createProtection(before.protected), createProtection(config.protected)];
  for (const { kind, manifest } of layers) {
    const isSkill = kind === 'skill';
    for (const named of targetsOf(manifest)) {
      const path = mapPath(named, manifest.coreVersion, pathMaps);
      const glob = (isSkill ? now : own).protectedBy(path);
      const isMoved = path !== named;
      if (isSkill && isMoved) checkStructured([path]);
      // A protection that did not keep the package out before does not do so now.
      if (glob === null || (!isMoved && then.protectedBy(path) !== null)) continue;
      throw new ClawError(
        'PATH_PROTECTED',
        `${manifest.skill} touches ${path}, which this core protects (${glob}): it cannot be together ` +
          'with it.',
        { path, data: { skill: manifest.skill, glob } },
      );
    }
  }
}

function releasedPackage(
  { name, range }: { readonly name: string; readonly range: string | null },
  { extras, config }: MigrationSource,
): SkillPackage {
  const prefix = `skills/${name}/`;
  const files = [...extras].flatMap(([path, file]) =>
    path.startsWith(prefix) ? [[path.slice(prefix.length), file] as const] : [],
  );
  if (files.length === 0) {
    throw new ClawError(
      'SKILL_NOT_FOUND',
      `The release's migrations.yaml names the skill ${name}, which it does not bring (${prefix}). ` +
        'Nothing was changed; the release is at fault.',
      { path: prefix, data: { nearest: [] } },
    );
  }
  const released = packageFromFiles(new Map(files), { protectedPaths: config.protected });
  const { skill, version } = released.manifest;
  const isWanted = range === null || satisfies(version, range, { includePrerelease: true });
  if (skill === name && isWanted) return released;
  throw new ClawError(
    skill === name ? 'VERSION_INVALID' : 'NAME_INVALID',
    `The release's ${prefix} is ${skill} ${version}, where its migrations.yaml names ` +
      `${name}${range === null ? '' : `@${range}`}. The release is at fault.`,
    { path: `${prefix}manifest.yaml` },
  );
}
