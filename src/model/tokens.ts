import { z } from 'zod';

/** A count of tokens as a server tells it. No answer has more of them; what is larger is no count. */
export const Count = z.number().int().nonnegative().max(1_000_000_000);

/** What one call of the model took, each token in one of the four kinds that have prices. */
export type TokenCounts = {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
};

/** Whether a call may go to the model's server. */
export type Admission =
  /** `charge` is called exactly once, when the call has ended; with null where it cost nothing. */
  | { readonly kind: 'admitted'; readonly charge: (counts: TokenCounts | null) => void }
  /** One sentence fit for the chat. */
  | { readonly kind: 'refused'; readonly message: string };
