import type { Pick } from './hunk-choices.ts';

/** The way to resolve one conflict, by the owner or a model that they asked. */
export type Choice =
  | PlainChoice
  /** The numbered way at each place of the conflict, counted from 1. */
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  /** All of it by one rule. */
  | { readonly kind: 'rule'; readonly rule: string }
  /** One side by a word of git's: what is there, or what comes. */
  | { readonly kind: 'word'; readonly word: 'ours' | 'theirs' }
  /** The side of a layer. */
  | { readonly kind: 'take'; readonly layer: string }
  /** Both sides; by a word of git's or the name of a layer, whose lines come first. */
  | { readonly kind: 'both-by'; readonly first: string };

/** A choice that says by itself what becomes of the conflict. */
export type PlainChoice =
  | { readonly kind: 'ours' | 'theirs'; readonly origin?: string }
  /** Both sides of each open hunk, this one first. */
  | { readonly kind: 'both'; readonly first: 'ours' | 'theirs' }
  /** A file with the finished text, or the value of a structured conflict. */
  | { readonly kind: 'with'; readonly given: string }
  /** The finished text itself. */
  | { readonly kind: 'text'; readonly text: string }
  /** The text under `.claw/pending/`, which the owner has finished there. */
  | { readonly kind: 'edited' }
  /** A recorded resolution that was offered. */
  | { readonly kind: 'recording'; readonly key: string }
  /** A pick for each open hunk, in their order. */
  | { readonly kind: 'picks'; readonly picks: readonly Pick[]; readonly origin?: string }
  /** The value of a structured conflict as it is; null takes the key out. */
  | { readonly kind: 'value'; readonly value: unknown; readonly origin?: string };
