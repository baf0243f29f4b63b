import type { TurnOutcome } from '../sandbox.ts';

/** Limits of a turn, in milliseconds. */
export type TurnLimits = {
  /** From its beginning to its end. */
  readonly timeoutMs: number;
  /** Without any sign of life. */
  readonly idleMs: number;
};

type Failure = Extract<TurnOutcome, { kind: 'failed' }>;

/** Returns the outcome of a turn that took too long. */
export function timeoutOutcome(timeoutMs: number): Failure {
  return {
    kind: 'failed',
    code: 'TURN_TIMEOUT',
    message: `The agent took longer than ${duration(timeoutMs)} and was stopped.`,
  };
}

/** Returns the outcome of a turn whose agent stayed silent too long. */
export function stuckOutcome(idleMs: number): Failure {
  return {
    kind: 'failed',
    code: 'AGENT_STUCK',
    message: `The agent gave no sign of life for ${duration(idleMs)} and was stopped.`,
  };
}

/** Limits on a group's calls of host tools. */
type CallLimitOptions = {
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

function duration(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${ms / 60_000} min`;
}
