const WINDOW_MS = 60_000;
const MAX_IN_WINDOW = 5;
const MAX_PAUSE_MS = 10_000;

export interface Crashes {
  /** Returns the pause before the next start, in milliseconds; null when it is time to give up. */
  next(now: number): number | null;
}

/** Starts again after a crash, later each time; the fifth within a minute is the last. */
export function countCrashes(firstPauseMs: number): Crashes {
  let times: number[] = [];
  return {
    next(now) {
      times = [...times.filter((time) => Math.abs(now - time) < WINDOW_MS), now];
      if (times.length >= MAX_IN_WINDOW) return null;
      return Math.min(firstPauseMs * 2 ** (times.length - 1), MAX_PAUSE_MS);
    },
  };
}
