import type { TokenCounts } from './sandbox.ts';
import type { UsageCounter } from './usage.ts';

/** About what models write in a second, for answers that break off before anything of them came. */
const TOKENS_PER_SECOND = 100;

/** What one call costs, from its start to its end. Closing it a second time does nothing. */
export type Bill = {
  /** The model's server has the whole request: from here on it may cost something. */
  sent(): void;
  /** The model began to answer; `counter` reads what that takes. */
  answered(counter: UsageCounter): void;
  /** The model's server answered with an error, which costs nothing. */
  refused(): void;
  close(end: { readonly isWhole: boolean }): void;
};

/**
 * Opens the bill of a call.
 *
 * What the model's server has not told, because the call broke off or because it never does, is
 * estimated from the request, from what was written by then and from the time that it took: otherwise
 * breaking off would be a way to pay nothing.
 *
 * @param onClose called exactly once; null for a call that cost nothing
 */
export function openBill(
  { atMost, isStream }: { readonly atMost: TokenCounts; readonly isStream: boolean },
  onClose: (counts: TokenCounts | null) => void,
  now: () => number = () => performance.now(),
): Bill {
  let state: 'unsent' | 'sent' | 'refused' | 'closed' = 'unsent';
  let counter: UsageCounter | null = null;
  let sentAt = 0;

  function countsOf(isWhole: boolean): TokenCounts | null {
    if (state !== 'sent') return null;
    const seconds = (now() - sentAt) / 1000;
    // A stream shows what was written by then; the rest is silent until it is whole.
    const unseen = isWhole || isStream ? 0 : Math.ceil(seconds * TOKENS_PER_SECOND);
    const unreported = {
      ...atMost,
      outputTokens: Math.min(atMost.outputTokens, unseen),
    };
    return counter === null ? unreported : counter.total({ isWhole, unreported });
  }

  return {
    sent() {
      if (state !== 'unsent') return;
      state = 'sent';
      sentAt = now();
    },
    answered: (reading) => {
      counter = reading;
    },
    refused() {
      if (state !== 'closed') state = 'refused';
    },
    close({ isWhole }) {
      if (state === 'closed') return;
      const counts = countsOf(isWhole);
      state = 'closed';
      onClose(counts);
    },
  };
}
