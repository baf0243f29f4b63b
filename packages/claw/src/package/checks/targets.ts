import { ClawError } from '../../errors.ts';
import type { OwnStructured } from '../../structured/structured-kind.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { SkillPackage } from '../package.ts';
import { checkCollisions } from './collisions.ts';
import { checkStructured } from './contents.ts';
import { showPath } from './paths.ts';

/** Returns every path of the project that a package writes, moves or deletes, each once, in manifest order. */
export function targetsOf(manifest: Manifest): readonly string[] {
  return [...new Set([...writtenBy(manifest), ...removedBy(manifest)])];
}

/**
 * Checks that a package's targets can coexist with each other and with existing files.
 *
 * A path is added, modified or deleted once; only a moved file may be modified at its new path.
 *
 * @throws ClawError PATH_COLLISION whose path is the target
 */
export function checkTargets(manifest: Manifest, existing: readonly string[]): void {
  const removed = removedBy(manifest);
  const moved = manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op.to]));
  const deleted = manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [op.path] : []));
  checkOnce([...manifest.adds, ...manifest.modifies, ...deleted]);
  checkOnce([...manifest.adds, ...moved]);
  checkOnce(removed);

  checkCollisions(removed, existing);
  const gone = new Set(removed);
  checkCollisions(
    [...new Set(writtenBy(manifest))],
    gone.size === 0 ? existing : existing.filter((path) => !gone.has(path)),
  );
}

function writtenBy(manifest: Manifest): readonly string[] {
  const moved = manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op.to]));
  return [...manifest.adds, ...manifest.modifies, ...moved];
}

function removedBy(manifest: Manifest): readonly string[] {
  return manifest.fileOps.map((op) => (op.type === 'delete' ? op.path : op.from));
}

function checkOnce(paths: readonly string[]): void {
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice === undefined) return;
  const path = showPath(twice);
  throw new ClawError(
    'PATH_COLLISION',
    `manifest.yaml names ${path} for two operations. Keep one of them.`,
    { path },
  );
}

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
