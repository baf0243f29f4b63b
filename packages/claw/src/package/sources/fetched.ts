import type { Tree } from '@patchclaw/merge';
import type { IrregularEntry } from '../package-from-files.ts';

/** The content of a source before it is checked: nothing of it has touched the project. */
export type Fetched = {
  readonly files: Tree;
  readonly irregular: readonly IrregularEntry[];
  /** Of a git repository; null for others. */
  readonly commit: string | null;
};

/** The edges of fetching: the environment it may use, and its receiver of progress. */
export type FetchEdges = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (event: {
    readonly kind: 'step' | 'done' | 'note';
    readonly text: string;
  }) => void;
};
