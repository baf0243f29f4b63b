import type { TokenCounts } from '../tokens.ts';
import type { UsageCounter } from './usage.ts';

/** About what models write in a second, for what was written and never read. */
const TOKENS_PER_SECOND = 100;

/** The cost of one call, from its start to its end. Closing it a second time does nothing. */
export type CallMeter = {
  /** The model's server has the whole request: from here on it may cost something. */
  sent(): void;
  /** The model began to answer; `counter` reads what that takes. */
  answered(counter: UsageCounter): void;
  /** Waits for the agent to take what came. Text that the server writes meanwhile cannot be seen here. */
  pausedDuring(taken: Promise<void>): Promise<void>;
  /** The model's server answered with an error, which costs nothing. */
  refused(): void;
  close(end: { readonly isWhole: boolean }): void;
};

/**
 * Opens the meter of a call.
 *
 * What the model's server has not told, because the call broke off or because it never does, is
 * estimated from the request, from what was written by then and from the time that it took: otherwise
 * breaking off would be a way to pay nothing.
 *
 * @param onClose called exactly once; null for a call that cost nothing
 */
export function openCallMeter(
  { atMost, isStream }: { readonly atMost: TokenCounts; readonly isStream: boolean },
  onClose: (counts: TokenCounts | null) => void,
  now: () => number = () => performance.now(),
): CallMeter {
  let state: 'unsent' | 'sent' | 'refused' | 'closed' = 'unsent';
  let counter: UsageCounter | null = null;
  let sentAt = 0;
  let pausedMs = 0;
  let pausedSince: number | null = null;

  function countsOf(isWhole: boolean): TokenCounts | null {
    if (state !== 'sent') return null;
    // A stream shows what was written, but while it was held up; any other answer shows nothing before its end.
    const paused = pausedMs + (pausedSince === null ? 0 : now() - pausedSince);
    const unseenMs = isStream ? paused : now() - sentAt;
    const unseen = isWhole ? 0 : Math.ceil((unseenMs / 1000) * TOKENS_PER_SECOND);
    const counts = counter?.total({ isWhole, unreported: atMost }) ?? {
      ...atMost,
      outputTokens: 0,
    };
    const outputTokens = Math.max(
      counts.outputTokens,
      Math.min(atMost.outputTokens, counts.outputTokens + unseen),
    );
    return { ...counts, outputTokens };
  }

  function sent(): void {
    if (state !== 'unsent') return;
    state = 'sent';
    sentAt = now();
  }

  return {
    sent,
    answered(reading) {
      // Some servers answer before they have taken all of the request.
      sent();
      counter = reading;
    },
    async pausedDuring(taken) {
      pausedSince = now();
      await taken;
      pausedMs += now() - pausedSince;
      pausedSince = null;
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
