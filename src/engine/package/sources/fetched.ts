import type { Tree } from '../../tree.ts';
import type { IrregularEntry } from '../package-from-files.ts';

/** What a source holds, before it is checked: nothing of it has touched the project. */
export type Fetched = {
  readonly files: Tree;
  readonly irregular: readonly IrregularEntry[];
  /** Of a git repository; null for others. */
  readonly commit: string | null;
};

/** What fetching may use, and whom it tells. */
export type FetchEdges = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (event: {
    readonly kind: 'step' | 'done' | 'note';
    readonly text: string;
  }) => void;
};
