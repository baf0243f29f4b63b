import type { TreeFile } from '@patchclaw/merge';
import type { ResolvedConflict } from './resolve-conflict.ts';

/** One layer's work on one path. */
export type Touch = {
  readonly layer: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
  /** The resolution of a conflict between this layer and those before it, if there was one. */
  readonly resolved: ResolvedConflict | null;
};
