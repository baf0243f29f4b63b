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

/** What a proof said of a composition; nothing where none ran. */
export type Verdict = { readonly failures: readonly CellFailure[]; readonly ms: number };

/** Tells whether there is a tree that could be proved. */
export function isComposed(composed: Composed): composed is ComposedEntry {
  return composed.kind === 'composed' && composed.composition.conflicts.length === 0;
}

/** By which combinations share a proof: a skill and what it depends on are the same alone and as a pair. */
export function layersKey({ layers }: ComposedEntry): string {
  return layers.map(({ manifest }) => manifest.skill).join(' + ');
}
