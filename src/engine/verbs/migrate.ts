import gt from 'semver/functions/gt.js';
import lte from 'semver/functions/lte.js';
import valid from 'semver/functions/valid.js';
import { ClawError } from '../errors.ts';
import type { SkillPackage } from '../skill/package.ts';
import { packageFromFiles } from '../skill/package-from-files.ts';
import { mapPath, type PathMap } from '../skill/path-map.ts';
import { checkProtected, createProtection } from '../skill/protection.ts';
import { targetsOf } from '../skill/targets.ts';
import type { CodebaseConfig } from '../state/config.ts';
import type { Migration } from '../state/migrations.ts';
import type { Tree } from '../tree.ts';

/** Migrations on the way from one version to another, in order; all of them where a version is unknown. */
export function dueMigrations(
  migrations: readonly Migration[],
  from: string | null,
  to: string | null,
): readonly Migration[] {
  return migrations.filter(({ since }) => {
    const isLater = from === null || valid(from) === null || gt(since, from);
    const isReached = to === null || valid(to) === null || lte(since, to);
    return isLater && isReached;
  });
}

type Migrated = {
  readonly layers: readonly SkillPackage[];
  /** Skills that keep an old behaviour, applied by this update. */
  readonly applied: readonly string[];
  readonly retired: readonly string[];
  readonly notes: readonly string[];
};

/**
 * The layers after all migrations, in their order: skills that keep an old behaviour join, skills that
 * the core took over go.
 *
 * @param extras what came with the release; its packages are the ones that are applied
 * @throws ClawError SKILL_NOT_FOUND for a migration whose skill the release lacks
 */
export function migrateLayers(
  installed: readonly SkillPackage[],
  due: readonly Migration[],
  extras: Tree,
): Migrated {
  let layers = [...installed];
  const applied: string[] = [];
  const retired: string[] = [];
  const notes: string[] = [];
  for (const { since, description, skill, retire } of due) {
    const why = description === '' ? `since ${since}` : description;
    const isThere = (name: string) => layers.some(({ manifest }) => manifest.skill === name);
    if (skill !== null && !isThere(skill)) {
      layers.push(releasedPackage(skill, extras));
      applied.push(skill);
      notes.push(
        `${skill} keeps things as they were (${why}); claw remove ${skill} for the new way.`,
      );
    }
    if (retire !== null && isThere(retire)) {
      layers = layers.filter(({ manifest }) => manifest.skill !== retire);
      retired.push(retire);
      notes.push(`${retire} is retired: the core does it by itself (${why}).`);
    }
  }
  // One that a later migration retires again was never there.
  const isKept = (name: string) => layers.some(({ manifest }) => manifest.skill === name);
  return { layers, applied: applied.filter(isKept), retired, notes };
}

/**
 * A release may move files, but not into the hands of packages that could not touch them there.
 *
 * @throws ClawError PATH_PROTECTED
 */
export function checkMapped(
  layers: readonly SkillPackage[],
  pathMaps: readonly PathMap[],
  config: CodebaseConfig,
): void {
  const protection = createProtection(config.protected);
  for (const layer of layers) {
    if (layer.kind === 'customisation') continue;
    for (const path of targetsOf(layer.manifest)) {
      const mapped = mapPath(path, layer.manifest.coreVersion, pathMaps);
      if (mapped !== path) checkProtected(mapped, protection);
    }
  }
}

function releasedPackage(name: string, extras: Tree): SkillPackage {
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
  return packageFromFiles(new Map(files), { protectedPaths: [] });
}
