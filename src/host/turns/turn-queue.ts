import { withTimeout } from '../../lib/timeout.ts';
import { isTransient } from '../../store/error.ts';
import type { Turn } from '../../store/store.ts';
import type { SettingsPort } from '../contracts/ports.ts';
import { createLeasedRunner, type LeasedRunnerOptions } from './leased-turn.ts';
import { lose, type RunningTurn } from './running-turns.ts';
import type { TurnResult } from './turn-result.ts';

export interface TurnQueue {
  /** Looks for turns to run; called whenever one may have become ready. */
  wake(): void;
  /** Runs a turn that was claimed already. */
  start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void;
  /**
   * Claims nothing more, and resolves when nothing runs or the time is over. Tools that run may end; agents get no
   * further call of the model, and their turns are given back.
   */
  drain(graceMs: number): Promise<void>;
  isDraining(): boolean;
  /** Gives back the agents' turns that still run. Commands stay claimed: the next process goes on. */
  putBack(): void;
  /** From here on nothing is written, whatever ends. */
  close(): void;
}

export type TurnQueueOptions = Omit<LeasedRunnerOptions, 'isDraining'> &
  SettingsPort & {
    readonly runAgent: (turn: Turn) => Promise<TurnResult>;
    readonly runCommand: (turn: Turn) => Promise<TurnResult>;
    /** A turn is worked on; the returned function is called when this process has left it, however it ended. */
    readonly onBegan: (turn: Turn) => () => void;
  };

/**
 * Runs turns: one agent and one command per group at a time, so many agents in all as the settings say, and so many
 * more that run beside others. Quick commands wait for no other turn.
 * A turn is under a lease while it runs; its end is written only by the holder of the lease.
 */
export function openTurnQueue(options: TurnQueueOptions): TurnQueue {
  const { store, settings, instance, now, log, timeouts, running } = options;
  let isDraining = false;
  let again: NodeJS.Timeout | undefined;

  const lease = () => ({ owner: instance, until: now() + timeouts.leaseMs });
  const { runLeased, release } = createLeasedRunner({ ...options, isDraining: () => isDraining });

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
      const beside = running.beside().length;
      const mayRun = (atWork: number) => atWork < settings.maxAgents;
      const turn =
        store.turns.claimNext('command', lease()) ??
        (mayRun(running.agents().length - beside)
          ? store.turns.claimNext('agent', lease())
          : null) ??
        // They have a limit of their own: a turn that waits for one of them cannot keep it from running.
        (mayRun(beside) ? store.turns.claimBeside(lease()) : null);
      if (turn === null) return;
      start(turn, turn.kind === 'agent' ? options.runAgent : options.runCommand);
    }
  }

  function start(turn: Turn, run: (turn: Turn) => Promise<TurnResult>): void {
    const folder = store.groups.byJid(turn.jid)?.folder;
    const flags = { isCancelled: false, isLost: false, stop: new AbortController() };
    const work: RunningTurn = { turn, folder, done: Promise.resolve(), ...flags };
    running.add(work);
    const left = options.onBegan(turn);
    work.done = runLeased(work, run).finally(() => {
      running.remove(work);
      left();
      wake();
    });
  }

  return {
    wake,
    start,
    async drain(graceMs) {
      isDraining = true;
      clearTimeout(again);
      await withTimeout(Promise.all(running.all().map(({ done }) => done)), graceMs);
    },
    isDraining: () => isDraining,
    putBack() {
      for (const work of running.agents()) release(work);
    },
    close() {
      for (const work of running.all()) lose(work);
    },
  };
}
