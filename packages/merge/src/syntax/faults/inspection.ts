import type { SyntaxFault } from '../parse.ts';
import type { Duplicate } from './duplicates.ts';

/** Findings about one text by itself: why it cannot be read, or which names it has twice. */
export type Inspection = {
  readonly fault: SyntaxFault | null;
  readonly duplicates: readonly Duplicate[];
};
