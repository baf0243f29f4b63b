import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import {
  type Container,
  DEFAULT_LIMITS,
  type Engine,
  MachineLost,
  type Mount,
} from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import { type FrameLink, openFrameLink } from '../protocol/frame-link.ts';
import { AgentFrame, type HostFrame, type TurnFrame } from '../protocol/frames.ts';
import { type GroupServer, openGroupServer } from '../protocol/group-server.ts';
import type { TurnOutcome } from '../sandbox.ts';
import type { AgentTurn } from './turn.ts';
import { stuckOutcome, type TurnLimits, timeoutOutcome } from './turn-limits.ts';

/**
 * A container, or the agent in it, that takes longer to start counts as hanging: a busy small machine has needed a
 * minute.
 */
const START_TIMEOUT_MS = 120_000;
/** An engine that takes longer to remove a container does not answer any more. */
const REMOVE_TIMEOUT_MS = 10_000;
/** Time for an agent to end by itself before it is killed. */
const STOP_GRACE_MS = 500;
/** A command may leave a server or two running for later turns; a fork bomb leaves dozens. */
const MAX_LEFT_BEHIND = 16;

export type WarmAgentParts = {
  readonly engine: Engine;
  readonly folder: string;
  readonly mounts: readonly Mount[];
  readonly socketDir: string;
  readonly user: AgentUser;
  readonly modelTimeoutMs: number;
  readonly timeZone: string;
};

/** The time that an answer waits for the files that its agent wrote on another machine. */
const SYNC_WAIT_MS = 15_000;

/** A container was started, but no agent reported from it. */
export class AgentNotReady extends Error {
  override readonly name = 'AgentNotReady';
}

/** Time that a lost connection waits for the engine to give the reason. */
const REASON_WAIT_MS = 1_000;

/** The reason why an agent was lost, in words that end a sentence. */
type Loss = {
  readonly code: 'AGENT_GARBAGE' | 'AGENT_DIED' | 'MACHINE_LOST';
  readonly reason: string;
};

/** The connection of one agent, up to its loss, which ends the turn it was in. */
class AgentConnection {
  turn: AgentTurn | null = null;
  loss: Loss | null = null;
  /** The agent takes what is said while a turn runs. */
  takesFollowUps = false;
  /** True once the agent is ready; false when it was lost before. */
  readonly ready: Promise<boolean>;
  readonly #resolveReady: (isReady: boolean) => void;
  readonly #containerEnded = Promise.withResolvers<Loss>();
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
  containerEnded(reason: string, isMachineLost: boolean): void {
    const loss: Loss = { code: isMachineLost ? 'MACHINE_LOST' : 'AGENT_DIED', reason };
    this.#containerEnded.resolve(loss);
    this.lose(loss);
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
    const unexplained = sleep(REASON_WAIT_MS, CLOSED, { ref: false });
    this.lose(await Promise.race([this.#containerEnded.promise, unexplained]));
  }
}

const CLOSED: Loss = { code: 'AGENT_DIED', reason: 'it closed its connection' };

/** Returns the outcome of a turn whose agent was lost. */
function lossOutcome({ code, reason }: Loss): TurnOutcome {
  const message =
    code === 'AGENT_GARBAGE'
      ? `The agent sent ${reason}; it was stopped, and the next message starts a new one.`
      : `The agent ended in the middle of the turn (${reason}); the next message starts a new one.`;
  return { kind: 'failed', code, message };
}

/** A started container whose agent has connected and waits for turns, one at a time. */
export class WarmAgent {
  readonly containerId: string;
  /** The other machine that it runs on; null for this one. */
  readonly machine: string | null;
  readonly #connection: AgentConnection;
  readonly #container: Container;
  readonly #server: GroupServer;
  #stopped: Promise<void> | null = null;

  /**
   * @throws AgentNotReady when the container came up and the agent did not
   * @throws MachineLost when the other machine was lost before the agent was up
   * @throws whatever the engine says when it cannot start a container
   */
  static async start(parts: WarmAgentParts): Promise<WarmAgent> {
    const connection = new AgentConnection();
    const server = await openGroupServer({
      socketDir: parts.socketDir,
      ...(parts.engine.transport && { transport: parts.engine.transport }),
      user: parts.user,
      proxy: { timeoutMs: parts.modelTimeoutMs },
      currentTurn: () => connection.turn,
      onAgent: (stream) => connection.connect(stream),
    });
    let container: Container;
    try {
      const { engine, folder, mounts, timeZone } = parts;
      container = await containerInTime(
        engine.startContainer({
          folder,
          mounts,
          limits: DEFAULT_LIMITS,
          endpoint: server.endpoint,
          timeZone,
        }),
      );
    } catch (error) {
      await server.close();
      throw error;
    }
    const machine = parts.engine.machine ?? null;
    const agent = new WarmAgent(container, server, connection, machine);
    await agent.#ready();
    return agent;
  }

  private constructor(
    container: Container,
    server: GroupServer,
    connection: AgentConnection,
    machine: string | null,
  ) {
    this.containerId = container.id;
    this.machine = machine;
    this.#container = container;
    this.#server = server;
    this.#connection = connection;
    void container.ended.then((reason) =>
      connection.containerEnded(reason, container.isMachineLost === true),
    );
  }

  /** Gives the agent the home's files, or takes its own; nothing to do on this machine. Never rejects. */
  async sync(way: 'give' | 'take'): Promise<void> {
    // A link that is lost ends the agent, with its reason.
    await this.#container.sync?.(way).catch(() => {});
  }

  get isAlive(): boolean {
    return this.#connection.isAlive;
  }

  /** Runs a turn to its end. An agent that is lost on the way is an outcome too, and is stopped. */
  async run(turn: AgentTurn, frame: TurnFrame, limits: TurnLimits): Promise<TurnOutcome> {
    const { timeoutMs, idleMs } = limits;
    await this.sync('give');
    this.#connection.turn = turn;
    const timer = setTimeout(() => turn.end(timeoutOutcome(timeoutMs)), timeoutMs);
    turn.silence.start(idleMs, () => turn.end(stuckOutcome(idleMs)));
    if (this.#connection.loss !== null) turn.end(lossOutcome(this.#connection.loss));
    else if (!this.#connection.send(frame)) turn.end(TOO_LONG);
    else if (this.#connection.takesFollowUps) turn.open();
    const outcome = await turn.outcome;
    clearTimeout(timer);
    this.#connection.turn = null;
    // The answer does not wait for a link that went down just now: the files come when it is back.
    if (this.isAlive) await withTimeout(this.sync('take'), SYNC_WAIT_MS);
    this.#container.endTurn?.();
    const isCrowded = turn.leftBehind > MAX_LEFT_BEHIND;
    if (isHung(outcome) || isCrowded || !this.isAlive) await this.stop();
    return outcome;
  }

  /** Sends the agent a frame beside the turn itself. */
  readonly send: AgentConnection['send'] = (frame) => this.#connection.send(frame);

  /** Asks the agent to end, and sees to it. Every call waits for the same end. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const mayEndItself = this.isAlive;
    this.#connection.send({ type: 'stop' });
    this.#connection.lose({ code: 'AGENT_DIED', reason: 'it was stopped' });
    if (mayEndItself) {
      await Promise.race([this.#container.ended, sleep(STOP_GRACE_MS, null, { ref: false })]);
    }
    // What could not be removed in time is removed when the host starts again.
    await withTimeout(this.#container.stop(), REMOVE_TIMEOUT_MS);
    await this.#server.close();
  }

  async #ready(): Promise<void> {
    const late = sleep(START_TIMEOUT_MS, false, { ref: false });
    if (await Promise.race([this.#connection.ready, late])) return;
    const why = this.#connection.loss?.reason ?? `nothing heard for ${START_TIMEOUT_MS / 1000} s`;
    const isMachineLost = this.#connection.loss?.code === 'MACHINE_LOST';
    await this.stop();
    const message = `The agent did not start (${why}).`;
    throw isMachineLost ? new MachineLost(message) : new AgentNotReady(message);
  }
}

const TOO_LONG: TurnOutcome = {
  kind: 'failed',
  code: 'AGENT_GARBAGE',
  message: 'The messages of this turn are longer than 1 MB together, which the agent cannot take.',
};

async function containerInTime(starting: Promise<Container>): Promise<Container> {
  const container = await withTimeout(starting, START_TIMEOUT_MS);
  if (container !== TIMED_OUT) return container;
  // If it comes up after all, nothing uses it any more.
  starting.then(
    (late) => late.stop(),
    () => {},
  );
  throw new Error(`the engine did not answer within ${START_TIMEOUT_MS / 1000} s`);
}

function isHung(outcome: TurnOutcome): boolean {
  return outcome.kind === 'failed' && ['TURN_TIMEOUT', 'AGENT_STUCK'].includes(outcome.code);
}
