import type { Conflict } from '../conflict.ts';

/**
 * What somebody decided about a structured conflict, or null where nobody did. Asked before the
 * conflict is reported. The value is plain JSON; null takes the key out.
 */
export type Decide = (conflict: Conflict) => { readonly value: unknown } | null;
