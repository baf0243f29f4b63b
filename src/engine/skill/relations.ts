import lt from 'semver/functions/lt.js';
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import { ClawError } from '../errors.ts';
import type { Manifest } from './manifest.ts';
import type { SkillPackage } from './package.ts';

/**
 * Checks that skills can stand together: every dependence is there in a version that is asked for,
 * and no two exclude each other, whichever of them says so.
 *
 * @throws ClawError SKILL_NEEDED, then SKILL_CONFLICT, with the names in `data`
 */
export function checkRelations(packages: readonly SkillPackage[]): void {
  const manifests = new Map(packages.map(({ manifest }) => [manifest.skill, manifest]));
  for (const manifest of manifests.values()) checkNeeds(manifest, manifests);
  for (const manifest of manifests.values()) {
    const other = manifest.conflicts.find((name) => manifests.has(name));
    if (other === undefined) continue;
    throw new ClawError(
      'SKILL_CONFLICT',
      `${manifest.skill} cannot be together with ${other}: remove one of them first.`,
      { data: { skill: manifest.skill, other } },
    );
  }
}

/**
 * @throws ClawError CORE_TOO_OLD when the package was written against a newer core than this one,
 * VERSION_INVALID when the core's version cannot be compared
 */
export function checkCoreVersion(manifest: Manifest, coreVersion: string): void {
  if (valid(coreVersion) === null) {
    throw new ClawError(
      'VERSION_INVALID',
      `The core says its version is "${coreVersion}", which is no semver version such as 1.0.0.`,
      { data: { coreVersion } },
    );
  }
  if (!lt(coreVersion, manifest.coreVersion)) return;
  throw new ClawError(
    'CORE_TOO_OLD',
    `${manifest.skill} was written against core ${manifest.coreVersion}, this one is ` +
      `${coreVersion}. Update the core first.`,
    {
      path: 'manifest.yaml:core_version',
      data: { skill: manifest.skill, needed: manifest.coreVersion, present: coreVersion },
    },
  );
}

function checkNeeds(manifest: Manifest, present: ReadonlyMap<string, Manifest>): void {
  for (const { name, range } of manifest.depends) {
    const found = present.get(name)?.version ?? null;
    if (found !== null && satisfies(found, range, { includePrerelease: true })) continue;
    const data = { skill: manifest.skill, needed: name, range, found };
    throw new ClawError(
      'SKILL_NEEDED',
      found === null
        ? `${manifest.skill} needs the skill ${name}: apply it as well.`
        : `${manifest.skill} needs ${name}@${range}, but ${found} is here: upgrade ${name}.`,
      { data },
    );
  }
}
