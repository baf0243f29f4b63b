import type { TurnFrame } from './frames.ts';
import { oneLine } from './model-failure.ts';
import type { TurnOutcome } from './sandbox.ts';
import { Turn, type TurnParts } from './turn.ts';
import { AgentNotReady, type WarmAgent } from './warm-agent.ts';

export type GroupParts = {
  /** Starts the group's container; rejects when it cannot. */
  readonly startAgent: () => Promise<WarmAgent>;
  readonly idleMs: number;
};

/** What one turn is made of. */
export type GroupTurn = {
  readonly parts: Omit<TurnParts, 'send'>;
  readonly frame: TurnFrame;
  readonly timeoutMs: number;
};

/** One group's agent over time: started for a turn, kept warm, stopped when idle, replaced when lost. */
export class Group {
  readonly #parts: GroupParts;
  #agent: WarmAgent | null = null;
  /** Settles when everything asked for so far is done: turns of one group never overlap. */
  #tail: Promise<unknown> = Promise.resolve();
  #starting: Promise<WarmAgent> | null = null;
  #idle: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /** Runs a turn after those before it. Never rejects. */
  run(turn: GroupTurn): Promise<TurnOutcome> {
    const outcome = this.#tail.then(() => this.#run(turn));
    this.#tail = outcome;
    return outcome;
  }

  /** Stops the container at once, in the middle of a turn too. Turns that wait will start another. */
  async stop(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    // One that is on its way up is waited for; whoever started it reports a failure.
    const started = await this.#starting?.catch(() => null);
    await (started ?? this.#agent)?.stop();
  }

  /** Stops for good: turns that wait are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
    await this.#tail;
    if (this.#idle !== null) clearTimeout(this.#idle);
  }

  async #run({ parts, frame, timeoutMs }: GroupTurn): Promise<TurnOutcome> {
    if (this.#isClosed) return SHUTTING_DOWN;
    if (this.#idle !== null) clearTimeout(this.#idle);
    try {
      const agent = await this.#warmAgent();
      return await agent.run(new Turn({ ...parts, send: agent.send }), frame, timeoutMs);
    } catch (error) {
      return startFailure(error);
    } finally {
      // Behind the turns that wait, so that a container is never stopped under one of them.
      this.#idle = setTimeout(() => {
        this.#tail = this.#tail.then(() => this.stop());
      }, this.#parts.idleMs).unref();
    }
  }

  async #warmAgent(): Promise<WarmAgent> {
    if (this.#agent?.isAlive) return this.#agent;
    // The old one's socket must be gone before a new one takes its path.
    await this.#agent?.stop();
    this.#starting = this.#parts.startAgent();
    try {
      this.#agent = await this.#starting;
      return this.#agent;
    } finally {
      this.#starting = null;
    }
  }
}

/** Said to turns that come when the sandbox is closed already. */
export const SHUTTING_DOWN: TurnOutcome = {
  kind: 'failed',
  code: 'NO_ENGINE',
  message: 'The assistant is shutting down.',
};

function startFailure(error: unknown): TurnOutcome {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AgentNotReady) return { kind: 'failed', code: 'AGENT_DIED', message };
  return {
    kind: 'failed',
    code: 'NO_ENGINE',
    message: `No container could be started: ${oneLine(message)}.`,
  };
}
