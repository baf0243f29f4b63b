export type TokenBucketOptions = {
  /** The capacity, and the amount at the start. */
  readonly burst: number;
  /** The refill rate. */
  readonly perSecond: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
};

/** Limits how much of something there is in the long run, and lets a burst of it pass. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#filledAt = options.now();
  }

  /** Takes so many; false, and none taken, where there are not enough. */
  take(count = 1): boolean {
    this.#fill();
    if (this.#tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes so many, whether they are there or not: what happened anyway. */
  spend(count: number): void {
    this.#fill();
    this.#tokens -= count;
  }

  /** Adds so many, up to what it holds. */
  earn(count: number): void {
    this.#tokens = Math.min(this.#options.burst, this.#tokens + count);
  }

  get isEmpty(): boolean {
    this.#fill();
    return this.#tokens < 1;
  }

  #fill(): void {
    const { burst, perSecond, now } = this.#options;
    const at = now();
    this.#tokens = Math.min(burst, this.#tokens + ((at - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = at;
  }
}
