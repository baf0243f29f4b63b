import { z } from 'zod';

/** A count of tokens as a server tells it; a number above the limit is taken as wrong. */
export const Count = z.number().int().nonnegative().max(1_000_000_000);

/** Tokens of one call of the model, in the four kinds that have prices. */
export type TokenCounts = {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
};

/** The decision about a call, before it goes to the model's server. */
export type Admission =
  /** `charge` is called exactly once, when the call has ended; with null where it cost nothing. */
  | { readonly kind: 'admitted'; readonly charge: (counts: TokenCounts | null) => void }
  /** One sentence fit for the chat. */
  | { readonly kind: 'refused'; readonly message: string };
