import { ClawError } from '../../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { checkCollisions } from './collisions.ts';
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
