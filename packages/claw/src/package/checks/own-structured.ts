import { ClawError } from '../../errors.ts';
import type { OwnStructured } from '../../structured/kind.ts';
import type { SkillPackage } from '../package.ts';
import { checkStructured } from './contents.ts';
import { targetsOf } from './targets.ts';

/**
 * Checks skills against the structured files of a codebase's own: packages for an image need the file that
 * they go into, and no skill replaces it.
 *
 * @throws ClawError SCHEMA_INVALID, STRUCTURED_ONLY
 */
export function checkOwnStructured(layers: readonly SkillPackage[], own: OwnStructured): void {
  for (const { kind, manifest } of layers) {
    if (kind !== 'skill') continue;
    checkStructured(targetsOf(manifest), own);
    const { npmDependencies, aptPackages } = manifest.structured.container;
    const isDeclared = Object.keys(npmDependencies).length + aptPackages.length > 0;
    if (!isDeclared || Object.keys(own).length > 0) continue;
    throw new ClawError(
      'SCHEMA_INVALID',
      `${manifest.skill} declares packages for an image (structured.container), and the release’s ` +
        'claw.config.yaml names no file that lists them. Where there is one, add ' +
        '`structured: { path/of/the/list.json: container }` to it, in a release.',
      { path: 'manifest.yaml:structured.container', data: { skill: manifest.skill } },
    );
  }
}
