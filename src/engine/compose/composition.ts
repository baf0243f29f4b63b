import type { Conflict } from '../conflict.ts';
import type { TreeFile } from '../tree.ts';

/** A path that layers touch: what it becomes (null: it is gone), and who made it so. */
export type ComposedFile = {
  readonly file: TreeFile | null;
  /** Names of the layers that touched it, in canonical order. */
  readonly layers: readonly string[];
};

/** `composed(release, layers)`: what every touched path becomes; all other paths are the release's own. */
export type Composition = {
  readonly files: ReadonlyMap<string, ComposedFile>;
  readonly conflicts: readonly Conflict[];
  /** Path as the release or a layer first had it → present path. */
  readonly renames: ReadonlyMap<string, string>;
  /** Resolved ranges, ports and settings, by structured file. */
  readonly structured: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** The present text of paths while layers are merged on, over a release that is never changed. */
export class Canvas {
  readonly #release: (path: string) => TreeFile | null;
  readonly #touched = new Map<string, { file: TreeFile | null; layers: string[] }>();
  readonly #conflicts: Conflict[] = [];

  constructor(release: (path: string) => TreeFile | null) {
    this.#release = release;
  }

  file(path: string): TreeFile | null {
    const touched = this.#touched.get(path);
    return touched ? touched.file : this.#release(path);
  }

  /** Who made a path what it is: the last layer that touched it, or the core. */
  author(path: string): string {
    return this.#touched.get(path)?.layers.at(-1) ?? 'core';
  }

  put(path: string, file: TreeFile | null, layer: string): void {
    const layers = this.#touched.get(path)?.layers ?? [];
    this.#touched.set(path, { file, layers: layers.includes(layer) ? layers : [...layers, layer] });
  }

  rename(from: string, to: string, layer: string): void {
    const layers = this.#touched.get(from)?.layers ?? [];
    this.#touched.set(to, { file: this.file(from), layers: [...layers] });
    this.put(from, null, layer);
    this.put(to, this.file(to), layer);
  }

  /** The first conflict of a path stands; what later layers would merge onto it means nothing. */
  conflict(conflict: Conflict): void {
    if (!this.isConflicted(conflict.path)) this.#conflicts.push(conflict);
  }

  isConflicted(path: string): boolean {
    return this.#conflicts.some((known) => known.path === path);
  }

  files(): ReadonlyMap<string, ComposedFile> {
    return this.#touched;
  }

  conflicts(): readonly Conflict[] {
    return this.#conflicts;
  }
}
