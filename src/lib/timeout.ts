/** The value of `withTimeout` when the time is over first. */
export const TIMED_OUT = Symbol('late');

/** Waits for work no longer than `limitMs`; the work itself goes on, and its failure is heard here only. */
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
