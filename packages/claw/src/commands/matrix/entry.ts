import type { CellFailure } from './cell.ts';
import type { Composed } from './composing.ts';
import type { Combination } from './shares.ts';

/** A combination on its way to a cell. */
export type Entry = {
  readonly combination: Combination;
  readonly composed: Composed;
  readonly ms: number;
};

export type ComposedEntry = Extract<Composed, { kind: 'composed' }>;

/** The result of proving a composition. */
export type Verdict = { readonly failures: readonly CellFailure[]; readonly ms: number };

/** Tells whether there is a tree that could be proved. */
export function isComposed(composed: Composed): composed is ComposedEntry {
  return composed.kind === 'composed' && composed.composition.conflicts.length === 0;
}

/**
 * Returns the key by which combinations share a proof: a skill with its dependencies is the same alone and in
 * a pair.
 */
export function layersKey({ layers }: ComposedEntry): string {
  return layers.map(({ manifest }) => manifest.skill).join(' + ');
}
