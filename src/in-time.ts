/** What `inTime` resolves with when the time is over first. */
export const LATE = Symbol('late');

/** Waits for work no longer than `limitMs`; the work itself goes on, and its failure is heard here only. */
export async function inTime<T>(work: Promise<T>, limitMs: number): Promise<T | typeof LATE> {
  const { promise: late, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(() => resolve(LATE), limitMs);
  // One that fails after its time has nobody left to tell.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
