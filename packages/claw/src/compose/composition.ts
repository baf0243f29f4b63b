import type { TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import type { OwnStructured } from '../structured/structured-kind.ts';
import type { Touch } from './blame/attribution.ts';
import type { Followed } from './follow-imports.ts';
import type { Draft } from './joint.ts';
import type { ResolvedConflict } from './resolve-conflict.ts';

/** A path that layers touch: its new content (null if it is deleted), and the layers that made it. */
export type ComposedFile = {
  readonly file: TreeFile | null;
  /** Names of the layers that touched it, in canonical order. */
  readonly layers: readonly string[];
  /** The path that the release knows the file by, where a layer moved it. */
  readonly origin: string;
  readonly touches: readonly Touch[];
};

/** An import in a layer's file, rewritten to the new path of a file that a release moved. */
export type FollowedImport = Followed & { readonly layer: string; readonly path: string };

/** `composed(release, layers)`: the content of every touched path; all other paths are the release's own. */
export type Composition = {
  readonly files: ReadonlyMap<string, ComposedFile>;
  readonly conflicts: readonly Conflict[];
  /** Conflicts that recordings or decisions resolved. */
  readonly resolvedConflicts: readonly ResolvedConflict[];
  /** Path as the release or a layer first had it → present path. */
  readonly renames: ReadonlyMap<string, string>;
  /** Imports that layers now have by another path than in their packages, because releases moved it. */
  readonly followed: readonly FollowedImport[];
  /** Resolved ranges, ports and settings, by structured file. */
  readonly structured: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Structured files of the release's own. */
  readonly ownStructured: OwnStructured;
};

/** The present text of paths while layers are merged on, over a release that never changes. */
export class ComposedTree {
  readonly #release: (path: string) => TreeFile | null;
  readonly #touched = new Map<string, ComposedFile>();
  readonly #conflicts = new Map<string, Conflict>();
  readonly #drafts = new Map<string, Draft>();
  readonly #resolvedConflicts: ResolvedConflict[] = [];
  readonly #followed = new Map<string, FollowedImport>();

  constructor(release: (path: string) => TreeFile | null) {
    this.#release = release;
  }

  file(path: string): TreeFile | null {
    const touched = this.#touched.get(path);
    return touched ? touched.file : this.#release(path);
  }

  /** Returns the last layer that touched a path, or the core. */
  author(path: string): string {
    return this.#touched.get(path)?.layers.at(-1) ?? 'core';
  }

  /** Returns the work of layers on a path so far. */
  touches(path: string): readonly Touch[] {
    return this.#touched.get(path)?.touches ?? [];
  }

  put(
    path: string,
    file: TreeFile | null,
    layer: string,
    resolved: ResolvedConflict | null = null,
  ): void {
    const known = this.#known(path);
    const touch = { layer, before: this.file(path), after: file, resolved };
    const layers = known.layers.includes(layer) ? known.layers : [...known.layers, layer];
    this.#touched.set(path, { ...known, file, layers, touches: [...known.touches, touch] });
    if (resolved !== null) this.#resolvedConflicts.push(resolved);
  }

  rename(from: string, to: string, layer: string): void {
    const file = this.file(from);
    const known = this.#known(from);
    this.#touched.set(to, { ...known, file });
    this.put(from, null, layer);
    this.put(to, file, layer);
  }

  #known(path: string): Omit<ComposedFile, 'file'> {
    return this.#touched.get(path) ?? { layers: [], origin: path, touches: [] };
  }

  /** Keeps the first conflict of a path; merging later layers onto it would be meaningless. */
  conflict(conflict: Conflict): void {
    if (!this.#conflicts.has(conflict.path)) this.#conflicts.set(conflict.path, conflict);
  }

  isConflicted(path: string): boolean {
    return this.#conflicts.has(path);
  }

  /** Returns a conflicted file onto which later layers can be merged around the open places. */
  draft(path: string): Draft | null {
    return this.#drafts.get(path) ?? null;
  }

  /** Continues with a conflicted file; null if later layers depend on the decision. */
  setDraft(path: string, draft: Draft | null): void {
    if (draft === null) this.#drafts.delete(path);
    else {
      this.#drafts.set(path, draft);
      this.#conflicts.set(path, draft.conflict);
    }
  }

  /** Notes the resolution of a value, which leaves no trace of its own in the file. */
  addResolved(resolved: ResolvedConflict): void {
    this.#resolvedConflicts.push(resolved);
  }

  follow(layer: string, path: string, imports: readonly Followed[]): void {
    for (const { from, to } of imports) {
      this.#followed.set([layer, path, from].join('\0'), { layer, path, from, to });
    }
  }

  result(): Pick<Composition, 'files' | 'conflicts' | 'resolvedConflicts' | 'followed'> {
    return {
      followed: [...this.#followed.values()],
      files: this.#touched,
      conflicts: [...this.#conflicts.values()],
      resolvedConflicts: this.#resolvedConflicts,
    };
  }
}
