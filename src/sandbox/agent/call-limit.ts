/** Limits on a group's calls of host tools. */
export type CallLimitOptions = {
  /** Calls that may come at once after a pause. */
  readonly burst: number;
  readonly perSecond: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
};

/** Far above what a model asks for in its rounds, far below what the host's store can take. */
export const CALL_BURST = 64;
export const CALLS_PER_SECOND = 16;

/**
 * Limits the calls of one group by a token bucket, so that a flood of them costs the other chats
 * nothing: a refused call never reaches a tool.
 */
export class CallLimit {
  readonly #options: CallLimitOptions;
  #tokens: number;
  #filledAt: number;

  constructor(options: CallLimitOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#filledAt = options.now();
  }

  /** Takes one call; false where the group has made too many. */
  take(): boolean {
    const { burst, perSecond, now } = this.#options;
    const at = now();
    const earned = ((at - this.#filledAt) / 1000) * perSecond;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#filledAt = at;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
