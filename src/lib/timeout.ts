/** The value of `withTimeout` when the time is over first. */
export const TIMED_OUT = Symbol('late');

/** Waits for work, but no longer than `limitMs`. The work itself continues, and its failure is handled here. */
export async function withTimeout<T>(
  work: Promise<T>,
  limitMs: number,
): Promise<T | typeof TIMED_OUT> {
  const { promise: late, resolve } = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(() => resolve(TIMED_OUT), limitMs);
  // An error after the limit is dropped: its caller has gone on.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
