import type { Turn } from '../store/store.ts';
import type { HostOptions } from './options.ts';
import { failed, type TurnResult } from './turn-result.ts';

/** How many agents may work at the same time. */
const MAX_AGENT_TURNS = 4;

export interface Work {
  /** Looks for turns to run; called whenever one may have become ready. */
  wake(): void;
  /** Runs a turn that was claimed already. */
  start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void;
  /** Claims nothing more, and resolves when nothing runs or the time is over. */
  drain(graceMs: number): Promise<void>;
  /** After the sandbox was closed: waits for what that ended, and gives those turns back. */
  settle(): Promise<void>;
}

export type WorkOptions = Pick<
  HostOptions,
  'store' | 'instance' | 'now' | 'newId' | 'log' | 'pace'
> & {
  readonly runAgent: (turn: Turn) => Promise<TurnResult>;
  readonly runCommand: (turn: Turn) => Promise<TurnResult>;
  /** Makes of a result what its chat is told, which is not the same for a turn that nobody asked for. */
  readonly toTell: (turn: Turn, result: TurnResult) => TurnResult;
  /** The turn's end is stored; its messages wait in the outbox. */
  readonly onEnded: (turn: Turn, result: TurnResult) => void;
};

/**
 * Runs turns: one agent and one command per chat at a time, four agents in all, oldest first.
 * A turn is under a lease while it runs; its end is written only by whoever holds the lease.
 */
export function openWork(options: WorkOptions): Work {
  const { store, instance, now, newId, log, pace } = options;
  const running = new Map<Turn, Promise<void>>();
  let isDraining = false;
  let isCut = false;

  const lease = () => ({ owner: instance, until: now() + pace.leaseMs });
  const agentTurns = (): number =>
    [...running.keys()].filter(({ kind }) => kind === 'agent').length;

  function wake(): void {
    for (;;) {
      if (isDraining) return;
      const turn =
        store.turns.claimNext('command', lease()) ??
        (agentTurns() < MAX_AGENT_TURNS ? store.turns.claimNext('agent', lease()) : null);
      if (turn === null) return;
      start(turn, turn.kind === 'agent' ? options.runAgent : options.runCommand);
    }
  }

  function start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void {
    running.set(
      turn,
      runLeased(turn, run).finally(() => {
        running.delete(turn);
        wake();
      }),
    );
  }

  async function runLeased(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): Promise<void> {
    const renewal = setInterval(() => store.turns.renew(turn.id, lease()), pace.leaseMs / 3);
    const startedAt = now();
    const group = store.groups.byJid(turn.jid)?.folder;
    log.info('a turn started', { group, turn: turn.id, kind: turn.kind });
    const came = await run(turn).catch((error: unknown) => {
      log.error('a turn broke', { group, turn: turn.id, error: String(error) });
      return failed('BROKEN', `Something went wrong: ${reasonOf(error)}`);
    });
    clearInterval(renewal);
    // The sandbox was closed under it: that failure says nothing about the question.
    if (isCut && turn.kind === 'agent') {
      store.turns.release(turn.id, instance);
      return;
    }
    const result = options.toTell(turn, came);
    if (!write(turn, result)) {
      log.error('a turn lost its lease, its result is dropped', { group, turn: turn.id });
      return;
    }
    log.info('a turn ended', { group, ...describe(turn, result, now() - startedAt) });
    options.onEnded(turn, result);
  }

  function write(turn: Turn, result: TurnResult): boolean {
    if (result.kind === 'suspended') {
      store.turns.suspend(turn.id, instance);
      return true;
    }
    const { state, error, session, question, run } = result;
    const messages = result.texts.map((text) => ({ messageId: newId(), text }));
    const { id, jid } = turn;
    return store.finishTurn(
      { id, owner: instance, jid, state, error, messages, session, question, run },
      now(),
    );
  }

  return {
    wake,
    start,
    async drain(graceMs) {
      isDraining = true;
      const { promise: timeIsOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([Promise.all(running.values()), timeIsOver]);
      clearTimeout(timer);
      isCut = true;
    },
    settle: async () => void (await Promise.all(running.values())),
  };
}

function describe(turn: Turn, result: TurnResult, durationMs: number) {
  const state = result.kind === 'suspended' ? 'suspended' : result.state;
  const error = result.kind === 'suspended' ? null : result.error;
  return { turn: turn.id, kind: turn.kind, state, error, durationMs };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
