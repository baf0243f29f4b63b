import { setTimeout as delay } from 'node:timers/promises';

/** The first and the longest pause between attempts, in milliseconds. */
export type BackoffLimits = { readonly firstMs: number; readonly longestMs: number };

const LIMITS: BackoffLimits = { firstMs: 500, longestMs: 60_000 };

/**
 * Computes the pause after so many failures in a row. It doubles up to the longest pause, and is a random part of
 * that between half and all, so that many installations do not return at the same moment.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function backoffMs(
  failures: number,
  random: number,
  { firstMs, longestMs }: BackoffLimits = LIMITS,
): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (ceiling / 2) * random;
}

/** Waits, but at most until the signal is aborted. Never rejects: the caller checks the signal next. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  try {
    await delay(ms, undefined, { signal });
  } catch {
    // Aborted.
  }
}
