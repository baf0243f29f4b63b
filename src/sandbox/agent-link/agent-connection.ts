import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FrameLink, openFrameLink } from '../protocol/frame-link.ts';
import { AgentFrame, type HostFrame } from '../protocol/frames.ts';
import type { TurnOutcome } from '../sandbox.ts';
import type { AgentTurn } from './turn.ts';

/** Time that a lost connection waits for the engine to give the reason. */
const REASON_WAIT_MS = 1_000;

/** The reason why an agent was lost, in words that end a sentence. */
export type Loss = { readonly code: 'AGENT_GARBAGE' | 'AGENT_DIED'; readonly reason: string };

/** The connection of one agent, up to its loss, which ends the turn it was in. */
export class AgentConnection {
  turn: AgentTurn | null = null;
  loss: Loss | null = null;
  /** The agent takes what is said while a turn runs. */
  takesFollowUps = false;
  /** True once the agent is ready; false when it was lost before. */
  readonly ready: Promise<boolean>;
  readonly #resolveReady: (isReady: boolean) => void;
  readonly #containerEnded = Promise.withResolvers<string>();
  #link: FrameLink<HostFrame> | null = null;
  #isClosed = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.ready = promise;
    this.#resolveReady = resolve;
  }

  get isAlive(): boolean {
    return this.loss === null && !this.#isClosed;
  }

  connect(stream: Duplex): void {
    this.#link = openFrameLink({
      stream,
      schema: AgentFrame,
      onFrame: (frame) => this.#accept(frame),
      onGarbage: (reason) => this.lose({ code: 'AGENT_GARBAGE', reason }),
      onClose: () => void this.#explainClose(),
    });
  }

  /** False when the frame is too long to be sent. Without a connection it goes nowhere. */
  send(frame: HostFrame): boolean {
    return this.#link?.send(frame) ?? true;
  }

  /** The container is gone, with the engine's word for why. */
  containerEnded(reason: string): void {
    this.#containerEnded.resolve(reason);
    this.lose({ code: 'AGENT_DIED', reason });
  }

  /** The first loss counts. */
  lose(loss: Loss): void {
    if (this.loss !== null) return;
    this.loss = loss;
    this.#resolveReady(false);
    this.turn?.end(lossOutcome(loss));
    this.#link?.close();
  }

  #accept(frame: AgentFrame): void {
    if (frame.type === 'ready') {
      this.takesFollowUps = frame.followUps ?? false;
      this.#resolveReady(true);
      return;
    }
    // Frames that were under way when their turn ended are late, not wrong.
    const wrong = this.turn?.accept(frame) ?? null;
    if (wrong !== null) this.lose({ code: 'AGENT_GARBAGE', reason: wrong });
  }

  async #explainClose(): Promise<void> {
    this.#isClosed = true;
    const unexplained = sleep(REASON_WAIT_MS, 'it closed its connection', { ref: false });
    const reason = await Promise.race([this.#containerEnded.promise, unexplained]);
    this.lose({ code: 'AGENT_DIED', reason });
  }
}

/** Returns the outcome of a turn whose agent was lost. */
export function lossOutcome({ code, reason }: Loss): TurnOutcome {
  const message =
    code === 'AGENT_GARBAGE'
      ? `The agent sent ${reason}; it was stopped, and the next message starts a new one.`
      : `The agent ended in the middle of the turn (${reason}); the next message starts a new one.`;
  return { kind: 'failed', code, message };
}
