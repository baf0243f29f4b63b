import { TokenBucket } from '../lib/token-bucket.ts';
import { oneLine } from '../model/failure.ts';
import { AgentTurn, type TurnParts } from './agent-link/turn.ts';
import { CALL_BURST, CALLS_PER_SECOND, type TurnLimits } from './agent-link/turn-limits.ts';
import { AgentNotReady, type WarmAgent } from './agent-link/warm-agent.ts';
import { MachineLost } from './engines/engine.ts';
import type { TurnFrame } from './protocol/frames.ts';
import type { TurnOutcome } from './sandbox.ts';

export type GroupParts = {
  /** Starts the group's container; rejects when it cannot. */
  readonly startAgent: () => Promise<WarmAgent>;
  /** Whether a warm agent runs on another machine than its chat should by now. */
  readonly isMisplaced: (agent: Pick<WarmAgent, 'machine'>) => boolean;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
};

/** Parts of one turn. */
export type GroupTurn = {
  readonly parts: Omit<TurnParts, 'send' | 'callLimit'>;
  readonly frame: TurnFrame;
  readonly limits: TurnLimits;
};

/** One group's agent over time: started for a turn, kept warm, stopped when idle, replaced when lost. */
export class GroupContainer {
  readonly #parts: GroupParts;
  /** A flood of calls costs the other chats nothing: a refused one never reaches a tool. */
  readonly #callLimit: TokenBucket;
  #agent: WarmAgent | null = null;
  /** Resolves when everything asked for so far is done: turns of one group never overlap. */
  #tail: Promise<unknown> = Promise.resolve();
  #starting: Promise<WarmAgent> | null = null;
  #idle: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** Turns that run or wait. */
  #turns = 0;
  /** How often it was stopped: a turn whose container is not up yet sees by it that it is meant. */
  #stops = 0;
  /** Ends the turn whose container is on its way up; null while none is. */
  #stopEarly: (() => void) | null = null;
  #lastTurnEndedAt = 0;

  constructor(parts: GroupParts) {
    this.#parts = parts;
    const limits = { burst: CALL_BURST, perSecond: CALLS_PER_SECOND };
    this.#callLimit = new TokenBucket({ ...limits, now: parts.elapsed });
  }

  /**
   * Runs a turn after those before it. Never rejects. A turn that is stopped before its container is up is over at once:
   * only the next one waits for that container's end.
   */
  run(turn: GroupTurn): Promise<TurnOutcome> {
    const stops = this.#turns === 0 ? this.#stops : null;
    this.#turns += 1;
    const { promise: early, resolve: endEarly } = Promise.withResolvers<TurnOutcome>();
    const outcome = this.#tail.then(() => this.#run(turn, stops ?? this.#stops, endEarly));
    this.#tail = outcome;
    return Promise.race([early, outcome]);
  }

  /** It has a container, or one is on its way up. */
  get isWarm(): boolean {
    return this.#starting !== null || this.#agent?.isAlive === true;
  }

  get isStarting(): boolean {
    return this.#starting !== null;
  }

  /** The other machine that its container runs on; null for this one, and for none. */
  get machine(): string | null {
    return this.#agent?.isAlive === true ? this.#agent.machine : null;
  }

  /** Since when nothing has been asked of it, on a clock of its own; null while something is. */
  get idleSince(): number | null {
    return this.#turns === 0 ? this.#lastTurnEndedAt : null;
  }

  /** Gives its container up, after the turns that were asked for first. */
  retire(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#tail = this.#tail.then(() => this.#stopContainer());
  }

  /** Stops the container at once, in the middle of a turn too. Turns that wait will start another. */
  async stop(): Promise<void> {
    this.#stops += 1;
    this.#stopEarly?.();
    await this.#stopContainer();
  }

  async #stopContainer(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    // Waits for one that is starting; the turn that started it reports a failure.
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

  /** @param stops how often it was stopped before this turn was the next one */
  async #run(
    { parts, frame, limits }: GroupTurn,
    stops: number,
    endEarly: (outcome: TurnOutcome) => void,
  ): Promise<TurnOutcome> {
    if (this.#isClosed) return SHUTTING_DOWN;
    if (this.#idle !== null) clearTimeout(this.#idle);
    try {
      if (this.#stops !== stops) return STOPPED;
      this.#stopEarly = () => endEarly(STOPPED);
      const agent = await this.#warmAgent().finally(() => {
        this.#stopEarly = null;
      });
      if (this.#stops !== stops) {
        await agent.stop();
        return STOPPED;
      }
      const turn = new AgentTurn({
        ...withFiles(parts, agent),
        callLimit: this.#callLimit,
        send: agent.send,
      });
      return await agent.run(turn, frame, limits);
    } catch (error) {
      return startFailure(error);
    } finally {
      this.#turns -= 1;
      this.#lastTurnEndedAt = this.#parts.elapsed();
      this.#idle = setTimeout(() => this.retire(), limits.idleMs).unref();
    }
  }

  async #warmAgent(): Promise<WarmAgent> {
    if (this.#agent?.isAlive && !this.#parts.isMisplaced(this.#agent)) return this.#agent;
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

/** On another machine, tools of the host find the files that its agent has written, and it finds theirs. */
function withFiles(parts: GroupTurn['parts'], agent: WarmAgent): GroupTurn['parts'] {
  if (agent.machine === null) return parts;
  const { onTool } = parts.events;
  return {
    ...parts,
    events: {
      ...parts.events,
      async onTool(call, signal) {
        await agent.sync('take');
        return await onTool(call, signal).finally(() => agent.sync('give'));
      },
    },
  };
}

/** Said to turns that come when the sandbox is closed already. */
export const SHUTTING_DOWN: TurnOutcome = {
  kind: 'failed',
  code: 'NO_ENGINE',
  message: 'The assistant is shutting down.',
};

const STOPPED: TurnOutcome = {
  kind: 'failed',
  code: 'AGENT_DIED',
  message: 'The agent was stopped before it began.',
};

function startFailure(error: unknown): TurnOutcome {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AgentNotReady) return { kind: 'failed', code: 'AGENT_DIED', message };
  if (error instanceof MachineLost) return { kind: 'failed', code: 'MACHINE_LOST', message };
  return {
    kind: 'failed',
    code: 'NO_ENGINE',
    message: `No container could be started: ${oneLine(message)}.`,
  };
}
