import type { TurnOutcome } from '../sandbox.ts';

/** How long a turn may go on, in milliseconds. */
export type TurnLimits = {
  /** From its beginning to its end. */
  readonly timeoutMs: number;
  /** Without any sign of life. */
  readonly idleMs: number;
};

type Failure = Extract<TurnOutcome, { kind: 'failed' }>;

/** What is said of a turn that took too long. */
export function timeoutOutcome(timeoutMs: number): Failure {
  return {
    kind: 'failed',
    code: 'TURN_TIMEOUT',
    message: `The agent took longer than ${duration(timeoutMs)} and was stopped.`,
  };
}

/** What is said of a turn in which nothing more was heard of the agent. */
export function stuckOutcome(idleMs: number): Failure {
  return {
    kind: 'failed',
    code: 'AGENT_STUCK',
    message: `The agent gave no sign of life for ${duration(idleMs)} and was stopped.`,
  };
}

function duration(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${ms / 60_000} min`;
}
