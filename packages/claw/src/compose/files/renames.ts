import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';

type Move = { readonly from: string; readonly to: string; readonly by: string };

const NOBODY: ReadonlySet<string> = new Set();

/**
 * Moves of files, so that a layer that names an old path reaches the new one. Built up move by move, in
 * canonical order; files may swap paths, or take a path that another left.
 */
export class Renames {
  readonly #moves: Move[] = [];

  /**
   * Returns the present path of a file that something knew as `path`.
   *
   * @param known layers whose moves it was named after
   */
  current(path: string, known: ReadonlySet<string> = NOBODY): string {
    return this.#moves
      .filter(({ by }) => !known.has(by))
      .reduce((at, { from, to }) => (at === from ? to : at), path);
  }

  move(from: string, to: string, by: string): void {
    this.#moves.push({ from, to, by });
  }

  /**
   * Returns every file that moved, by the path that the release or the adding layer knew it by, with where it
   * is now.
   */
  all(): ReadonlyMap<string, string> {
    const origins = new Map<string, string>();
    for (const { from, to } of this.#moves) {
      const origin = origins.get(from) ?? from;
      origins.delete(from);
      origins.set(to, origin);
    }
    const present = new Map<string, string>();
    for (const [path, origin] of origins) {
      // Of two files that began at one place, the name is the first one's.
      const isNamesake = origin === path || present.has(origin);
      if (!isNamesake) present.set(origin, path);
    }
    return present;
  }
}

/** Returns the moves of all layers: path as the core or a layer first had it → present path. */
export function renamesOf(
  layers: readonly SkillPackage[],
  pathMaps: readonly PathMap[],
): ReadonlyMap<string, string> {
  const renames = new Renames();
  for (const { manifest } of layers) {
    for (const op of manifest.fileOps) {
      if (op.type === 'delete') continue;
      const from = mapPath(op.from, manifest.coreVersion, pathMaps);
      const to = mapPath(op.to, manifest.coreVersion, pathMaps);
      if (renames.current(from) !== to) renames.move(from, to, manifest.skill);
    }
  }
  return renames.all();
}
