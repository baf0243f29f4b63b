import type { mergeFiles, TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import type { SkillPackage } from '../package/package.ts';
import type { OwnStructured } from '../structured/structured-kind.ts';
import type { ComposedTree } from './composition.ts';
import type { Renames } from './files/renames.ts';
import type { ConflictOutcome } from './resolve-conflict.ts';

/** The tree under composition, with everything that merging a layer onto it needs. */
export type MergeContext = {
  readonly tree: ComposedTree;
  readonly renames: Renames;
  /** The name that a path of an older core has in this one. */
  readonly mapped: (path: string, layer: SkillPackage) => string;
  /** True if any path of the layer's core may have another name in this one. */
  readonly isMapped: (layer: SkillPackage) => boolean;
  readonly resolve: (conflict: Conflict) => ConflictOutcome;
  /** The same without what is known of the release's history, which does not say where a file is. */
  readonly resolveMove: (conflict: Conflict) => ConflictOutcome;
  /**
   * Tells whether the release alone has the file at its new place, and what is at the old one is of layers only whose
   * commits it has: then its history does say where that file is.
   */
  readonly isReleasedMove: (from: string, to: string) => boolean;
  readonly merge: typeof mergeFiles;
  /** True if layers that disagree in one file, far from each other, are asked about at once. */
  readonly isJoint: boolean;
  /** Tells whether a skill leaves a file to the release, which it found as `base`. */
  readonly yields: (skill: string, path: string, base: TreeFile | null) => boolean;
  /** Structured files of the release's own. */
  readonly ownStructured: OwnStructured;
  /** All skills of this composition, in canonical order. */
  readonly skills: readonly SkillPackage[];
  /** All layers of this composition, in canonical order. */
  readonly layers: readonly SkillPackage[];
  /** Skills whose work on a path was decided together with that of an earlier one, by `decidedKey`. */
  readonly decided: Set<string>;
};
