import { lt, valid } from 'semver';
import { ClawError } from '../../errors.ts';
import type { Manifest } from './manifest.ts';

/**
 * Checks that the core is not older than the one a package was written against. A core that has no
 * version, or none that can be compared, takes every package: the merge decides alone.
 *
 * @param remedy what the owner can do
 * @throws ClawError CORE_TOO_OLD with both versions in `data`
 */
export function checkCoreVersion(
  manifest: Manifest,
  coreVersion: string | null,
  remedy = 'It needs a newer core, or a version that suits this core.',
): void {
  if (coreVersion === null || valid(coreVersion) === null) return;
  if (!lt(coreVersion, manifest.coreVersion)) return;
  throw new ClawError(
    'CORE_TOO_OLD',
    `${manifest.skill} was written against core ${manifest.coreVersion}, this one is ` +
      `${coreVersion}. ${remedy}`,
    {
      path: 'manifest.yaml:core_version',
      data: { skill: manifest.skill, needed: manifest.coreVersion, present: coreVersion },
    },
  );
}
