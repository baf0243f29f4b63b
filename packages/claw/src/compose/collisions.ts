import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { type Collision, findCollisions } from '../package/checks/collisions.ts';
import { showPath } from '../package/checks/paths.ts';
import type { Composition } from './composition.ts';

type Surroundings = {
  readonly release: (path: string) => TreeFile | null;
  /** Paths that this release has and the one before it has not; none by default. */
  readonly brought?: readonly string[];
  /** True if a path was published before: such files are beside each other already. */
  readonly isHeld?: (path: string) => boolean;
};

/**
 * Refuses files of two layers, or of a layer and a new release, that cannot exist together on every disk: their names
 * differ only in case, or one is a file where the other needs a folder.
 *
 * A package was checked against the project when it was read, but not against the packages that are installed with
 * it.
 *
 * @throws ClawError PATH_COLLISION
 */
export function checkCollisionsOf(
  { files }: Composition,
  { release, brought = [], isHeld = () => false }: Surroundings,
): void {
  const added = [...files].flatMap(([path, { file }]) =>
    file !== null && release(path) === null ? [path] : [],
  );
  const core = new Set(brought.filter((path) => files.get(path)?.file !== null));
  const fresh = [...added.filter((path) => !isHeld(path)), ...core];
  const collisions = findCollisions(fresh, added.filter(isHeld));
  // Collisions within a release are its own business.
  const found = collisions.find(({ path, other }) => !core.has(path) || !core.has(other));
  if (found !== undefined) throw collisionError(found, files);
}

function collisionError({ path, other }: Collision, files: Composition['files']): ClawError {
  const layerOf = (one: string) => files.get(one)?.layers[0] ?? null;
  const nameOf = (one: string) => `${showPath(one)} of ${layerOf(one) ?? 'the new release'}`;
  const layer = layerOf(path) ?? layerOf(other);
  return new ClawError(
    'PATH_COLLISION',
    `${nameOf(path)} and ${nameOf(other)} cannot both exist on every disk. ` +
      `Rename the file in the package of ${layer}, or leave ${layer} out.`,
    { path: showPath(path), data: { other: showPath(other) } },
  );
}
