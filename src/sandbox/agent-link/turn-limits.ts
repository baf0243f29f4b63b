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

/**
 * The number of calls of host tools that one group may make at once: far more than a model makes in its rounds, far
 * less than the host's store can take.
 */
export const CALL_BURST = 64;
export const CALLS_PER_SECOND = 16;

function duration(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${ms / 60_000} min`;
}
