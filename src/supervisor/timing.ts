/** Times that the supervisor waits, in milliseconds. */
export type Timing = {
  /** The time that a just published tree may take to come up, on a computer whose starts are quick. */
  readonly healthyMs: number;
  /** The time that an assistant may take to finish. */
  readonly stopMs: number;
  /** Before the start that follows a first crash. */
  readonly crashPauseMs: number;
  /** The interval of checking whether the assistant hangs. */
  readonly livenessMs: number;
};

/** Times for a computer that is not slow. */
export const DEFAULT_TIMING: Timing = {
  healthyMs: 30_000,
  stopMs: 9_500,
  crashPauseMs: 250,
  livenessMs: 60_000,
};

/** A start may take this many times as long as the last one that was healthy: a change may do more at its start. */
const SLOWER_START = 5;

/** A clock that was set meanwhile, or a computer that slept, makes a start look long: no tree is given more time. */
const LONGEST_START_MS = 600_000;

/** Returns the time that a just published tree may take to come up where the last healthy start took `startMs`. */
export function healthyLimit({ healthyMs }: Timing, startMs: number): number {
  return Math.max(healthyMs, Math.min(SLOWER_START * startMs, LONGEST_START_MS));
}
