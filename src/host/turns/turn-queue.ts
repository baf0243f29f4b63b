import { withTimeout } from '../../lib/timeout.ts';
import { isTransient } from '../../store/error.ts';
import type { Turn } from '../../store/store.ts';
import { putQuestion } from '../asking/put-question.ts';
import { type ClosingQuestion, closingQuestion } from '../asking/question.ts';
import type {
  ClockPort,
  IdPort,
  InstancePort,
  LogPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
} from '../contracts/ports.ts';
import { persist } from './persist.ts';
import type { RunningTurn, RunningTurns } from './running-turns.ts';
import { failed, gaveUp, type TurnResult } from './turn-result.ts';

export interface TurnQueue {
  /** Looks for turns to run; called whenever one may have become ready. */
  wake(): void;
  /** Runs a turn that was claimed already. */
  start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void;
  /** Claims nothing more, and resolves when nothing runs or the time is over. */
  drain(graceMs: number): Promise<void>;
  /** Gives back the agents' turns that still run. Commands stay claimed: the next process goes on. */
  putBack(): void;
  /** From here on nothing is written, whatever ends. */
  close(): void;
}

export type TurnQueueOptions = StorePort &
  SettingsPort &
  InstancePort &
  ClockPort &
  IdPort &
  LogPort &
  TimeoutsPort & {
    readonly running: RunningTurns;
    readonly runAgent: (turn: Turn) => Promise<TurnResult>;
    readonly runCommand: (turn: Turn) => Promise<TurnResult>;
    /** Returns the text for the chat after a result; a task's turn has another than one that answers a message. */
    readonly toTell: (turn: Turn, result: TurnResult) => TurnResult;
    /** The turn's end is stored; its messages wait in the outbox. */
    readonly onEnded: (turn: Turn, result: TurnResult) => void;
  };

/**
 * Runs turns: one agent and one command per group at a time, so many agents in all as the settings say.
 * A turn is under a lease while it runs; its end is written only by the holder of the lease.
 */
export function openTurnQueue(options: TurnQueueOptions): TurnQueue {
  const { store, settings, instance, now, newId, log, timeouts, running } = options;
  let isDraining = false;
  let again: NodeJS.Timeout | undefined;

  const lease = () => ({ owner: instance, until: now() + timeouts.leaseMs });

  function wake(): void {
    clearTimeout(again);
    try {
      startAll();
    } catch (error) {
      // The messages are stored, so their channels need not deliver them again.
      if (!isTransient(error)) throw error;
      log.error('the database takes nothing now, turns wait', { error: String(error) });
      again = setTimeout(wake, timeouts.retryMs);
    }
  }

  function startAll(): void {
    for (;;) {
      if (isDraining) return;
      const turn =
        store.turns.claimNext('command', lease()) ??
        (running.agents().length < settings.maxAgents
          ? store.turns.claimNext('agent', lease())
          : null);
      if (turn === null) return;
      start(turn, turn.kind === 'agent' ? options.runAgent : options.runCommand);
    }
  }

  function start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void {
    const folder = store.groups.byJid(turn.jid)?.folder;
    const flags = { isCancelled: false, isLost: false };
    const work: RunningTurn = { turn, folder, done: Promise.resolve(), ...flags };
    running.add(work);
    work.done = runLeased(work, run).finally(() => {
      running.remove(work);
      wake();
    });
  }

  async function runLeased(
    work: RunningTurn,
    run: (turn: Turn) => Promise<TurnResult>,
  ): Promise<void> {
    const { turn, folder: group } = work;
    const renewal = setInterval(() => renew(work), timeouts.leaseMs / 3);
    const startedAt = now();
    log.info('a turn started', { group, turn: turn.id, kind: turn.kind });
    const came = await run(turn).catch((error: unknown) => {
      log.error('a turn broke', { group, turn: turn.id, error: String(error) });
      return failed('BROKEN', `Something went wrong: ${reasonOf(error)}`);
    });
    clearInterval(renewal);
    if (work.isLost) return;
    // A signal that ends the assistant may have ended its agents too: that failure is not the turn's.
    if (isDraining && came.kind === 'ended' && came.error === 'AGENT_DIED') return release(work);
    const isAnswered = came.kind === 'ended' && came.state === 'answered';
    const result = options.toTell(turn, work.isCancelled && !isAnswered ? CANCELLED : came);
    const isOver = () => work.isLost;
    const written = await persist(() => write(turn, result), {
      log,
      timeouts,
      what: 'the end of a turn',
      isOver,
    });
    if (isOver()) return;
    if (written !== true) {
      log.error('a turn lost its lease, its result is dropped', { group, turn: turn.id });
      return;
    }
    log.info('a turn ended', { group, ...describe(turn, result, now() - startedAt) });
    options.onEnded(turn, result);
  }

  /**
   * Renews the lease of a turn. Only one that is deleted is lost: no other process takes a turn while this
   * one lives.
   */
  function renew(work: RunningTurn): void {
    if (work.isLost) return;
    try {
      if (store.turns.renew(work.turn.id, lease())) return;
      work.isLost = true;
      log.warn('a turn is gone, its agent is stopped', { turn: work.turn.id });
      running.stopAgent(work);
    } catch (error) {
      log.error('a lease was not renewed', { turn: work.turn.id, error: String(error) });
    }
  }

  function release(work: RunningTurn): void {
    work.isLost = true;
    try {
      store.turns.release(work.turn.id, instance);
    } catch (error) {
      // It stays claimed, and the next process takes it over all the same.
      log.error('a turn was not given back', { turn: work.turn.id, error: String(error) });
    }
  }

  function write(turn: Turn, result: TurnResult): boolean {
    if (result.kind === 'suspended') {
      store.turns.suspend(turn.id, instance);
      return true;
    }
    const { state, error, session, run } = result;
    const { id, jid } = turn;
    return store.transaction(() => {
      const put = putClosing(turn, result.question);
      const texts = result.texts.map((text) => ({ text, choices: null }));
      const messages = [...texts, ...(put === null ? [] : [put])].map(({ text, choices }) => ({
        messageId: newId(),
        text,
        choices,
      }));
      const question = put?.ask ?? null;
      return store.finishTurn(
        { id, owner: instance, jid, state, error, messages, session, question, run },
        now(),
      );
    });
  }

  function putClosing({ id: turnId, jid }: Turn, question: ClosingQuestion | null) {
    if (question === null) return null;
    const kept = closingQuestion(question, turnId);
    return putQuestion({ store }, { id: newId(), jid, sender: null, kept });
  }

  return {
    wake,
    start,
    async drain(graceMs) {
      isDraining = true;
      clearTimeout(again);
      await withTimeout(Promise.all(running.all().map(({ done }) => done)), graceMs);
    },
    putBack() {
      for (const work of running.agents()) release(work);
    },
    close() {
      for (const work of running.all()) work.isLost = true;
    },
  };
}

const CANCELLED = gaveUp('CANCELLED', 'Stopped, as the owner asked.');

function describe(turn: Turn, result: TurnResult, durationMs: number) {
  const state = result.kind === 'suspended' ? 'suspended' : result.state;
  const error = result.kind === 'suspended' ? null : result.error;
  return { turn: turn.id, kind: turn.kind, state, error, durationMs };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
