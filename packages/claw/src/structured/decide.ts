import type { Conflict } from '../conflict.ts';

/**
 * Returns the decision about a structured conflict, or null where there is none. Asked before the conflict is
 * reported. The value is plain JSON; null takes the key out.
 */
export type Decide = (conflict: Conflict) => { readonly value: unknown } | null;
