import type { Versions } from '../tree.ts';

/** A stretch of a merged text: resolved lines, or lines on which the two sides disagree. */
export type Hunk =
  | { readonly kind: 'resolved'; readonly lines: readonly string[] }
  | ({ readonly kind: 'conflict' } & Versions<readonly string[]>);

export type Labels = Versions<string>;
