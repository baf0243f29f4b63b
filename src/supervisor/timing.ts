/** Times that the supervisor waits, in milliseconds. */
export type Timing = {
  /** The time that a just published tree may take to come up. */
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
