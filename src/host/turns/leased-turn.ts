import type { Turn } from '../../store/store.ts';
import { putQuestion } from '../asking/put-question.ts';
import { type ClosingQuestion, closingQuestion } from '../asking/question.ts';
import type {
  ClockPort,
  IdPort,
  InstancePort,
  LogPort,
  StorePort,
  TimeoutsPort,
} from '../contracts/ports.ts';
import { persist } from './persist.ts';
import type { TurnRecords } from './record/turn-records.ts';
import { lose, type RunningTurn, type RunningTurns } from './running-turns.ts';
import { failed, gaveUp, type TurnEnd, type TurnResult } from './turn-result.ts';

/** Runs turns that this process has claimed. */
export type LeasedRunner = {
  /** Checks now and then that a running turn is still there, and stores its end. */
  readonly runLeased: (
    work: RunningTurn,
    run: (turn: Turn) => Promise<TurnResult>,
  ) => Promise<void>;
  /** Gives a turn back, to be claimed again; its result is dropped. */
  readonly release: (work: RunningTurn) => void;
};

type StoreEndOptions = StorePort &
  InstancePort &
  ClockPort &
  IdPort & { readonly records: Pick<TurnRecords, 'store'> };

export type LeasedRunnerOptions = StoreEndOptions &
  InstancePort &
  ClockPort &
  LogPort &
  TimeoutsPort & {
    readonly running: RunningTurns;
    readonly records: Pick<TurnRecords, 'store' | 'forget'>;
    /** Returns the text for the chat after a result; a task's turn has another than one that answers a message. */
    readonly toTell: (turn: Turn, result: TurnEnd) => TurnEnd;
    /** The turn's end is stored; its messages wait in the outbox. */
    readonly onEnded: (turn: Turn, result: TurnEnd) => void;
    /** A message of a turn that was given back waits in the outbox. */
    readonly onGivenBack: () => void;
    /** Tells whether the assistant is being stopped. */
    readonly isDraining: () => boolean;
  };

/** Creates the runner of turns under a lease; only the holder of the lease writes a turn's end. */
export function createLeasedRunner(options: LeasedRunnerOptions): LeasedRunner {
  const { store, instance, now, log, timeouts, running, isDraining } = options;
  const lease = () => ({ owner: instance, until: now() + timeouts.leaseMs });

  async function runLeased(
    work: RunningTurn,
    run: (turn: Turn) => Promise<TurnResult>,
  ): Promise<void> {
    try {
      await runToEnd(work, run);
    } finally {
      options.records.forget(work.turn);
    }
  }

  async function runToEnd(
    work: RunningTurn,
    run: (turn: Turn) => Promise<TurnResult>,
  ): Promise<void> {
    const { turn, folder } = work;
    const renewal = setInterval(() => renew(work), timeouts.leaseMs / 3);
    const startedAt = now();
    log.info('a turn started', { group: folder, turn: turn.id, kind: turn.kind });
    const came = await run(turn).catch((error: unknown) => {
      log.error('a turn broke', { group: folder, turn: turn.id, error: String(error) });
      return failed('BROKEN', `Something went wrong: ${reasonOf(error)}`);
    });
    clearInterval(renewal);
    try {
      await storeEnd(work, came, startedAt);
    } finally {
      if (came.kind === 'ended') came.held?.release();
    }
  }

  async function storeEnd(work: RunningTurn, came: TurnResult, startedAt: number): Promise<void> {
    const { turn, folder } = work;
    if (work.isLost) return;
    const isAnswered = came.kind === 'ended' && came.state === 'answered';
    const end = work.isCancelled && !isAnswered ? cancelled(work) : came;
    if (end.kind === 'given-back') return giveBack(work, end.text);
    if (end.kind === 'run-again') return runAgain(work);
    // A signal that ends the assistant may have ended its agents too: that failure is not the turn's.
    if (isDraining() && end.kind === 'ended' && end.error === 'AGENT_DIED') return release(work);
    const result = options.toTell(turn, end);
    const isOver = () => work.isLost;
    const written = await persist(() => storeTurnEnd(options, turn, result), {
      log,
      timeouts,
      what: 'the end of a turn',
      isOver,
    });
    if (isOver()) return;
    if (written !== true) {
      log.error('a turn lost its lease, its result is dropped', { group: folder, turn: turn.id });
      return;
    }
    log.info('a turn ended', { group: folder, ...describe(turn, result, now() - startedAt) });
    options.onEnded(turn, result);
  }

  /**
   * Renews the lease of a turn, which tells whether it is still there. Only one that is deleted is lost: no other
   * process takes a turn while this one lives.
   */
  function renew(work: RunningTurn): void {
    if (work.isLost) return;
    try {
      if (store.turns.renew(work.turn.id, lease())) return;
      lose(work);
      log.warn('a turn is gone, its agent is stopped', { turn: work.turn.id });
      running.stopAgent(work);
    } catch (error) {
      log.error('a lease was not renewed', { turn: work.turn.id, error: String(error) });
    }
  }

  /** Gives a turn back, and sends what there is of its answer in the place of the draft that its chat has seen. */
  function giveBack(work: RunningTurn, text: string | null): void {
    const { id, jid } = work.turn;
    if (text !== null) {
      try {
        store.transaction(() => {
          const draft = store.drafts.of(id, now());
          const replaces = draft?.isBuried === false ? draft.messageId : null;
          const messageId = options.newId();
          store.outbox.add({ messageId, jid, text, turnId: id, replaces }, now());
          if (draft !== null) store.drafts.remove(draft.messageId);
        });
        options.onGivenBack();
      } catch (error) {
        // The next run answers all the same.
        log.warn('a part of an answer was not sent', { turn: id, error: String(error) });
      }
    }
    release(work);
  }

  /** Puts a turn back into the queue; unlike one that is given back, it has had an attempt. */
  function runAgain(work: RunningTurn): void {
    const { id, jid } = work.turn;
    log.warn('a turn runs again', { group: work.folder, turn: id, chat: jid });
    lose(work);
    try {
      store.turns.requeue(id);
    } catch (error) {
      // It stays claimed, and the next process takes it over.
      log.error('a turn was not put back', { turn: id, error: String(error) });
    }
  }

  function release(work: RunningTurn): void {
    lose(work);
    try {
      store.turns.release(work.turn.id, instance);
    } catch (error) {
      // It stays claimed, and the next process takes it over all the same.
      log.error('a turn was not given back', { turn: work.turn.id, error: String(error) });
    }
  }

  return { runLeased, release };
}

/** Ends a cancelled turn without a text if the owner said `/stop`: the answer to that command is enough. */
function cancelled({ turn, cancelledIn }: RunningTurn): TurnEnd {
  const end = gaveUp('CANCELLED', 'Stopped.');
  return cancelledIn === turn.jid ? { ...end, texts: [] } : end;
}

function describe(turn: Turn, result: TurnEnd, durationMs: number) {
  const { state, error } = result.kind === 'ended' ? result : { state: result.kind, error: null };
  return { turn: turn.id, kind: turn.kind, state, error, durationMs };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Stores the end of a turn with its messages and the question that it ends with, all or nothing.
 *
 * @returns false where the turn is gone or no longer this process's
 */
function storeTurnEnd(options: StoreEndOptions, turn: Turn, result: TurnEnd): boolean {
  const { store, instance, now, newId, records } = options;
  if (result.kind === 'suspended') {
    store.turns.suspend(turn.id, instance);
    return true;
  }
  const { state, error, session, run } = result;
  const { id, jid } = turn;
  return store.transaction(() => {
    const put = putClosing(options, turn, result.question);
    const texts = result.texts.map((text, index) => ({
      messageId: newId(),
      text,
      choices: null,
      attachments: index === 0 ? (result.held?.files ?? []) : [],
    }));
    const messages = [...texts, ...(put === null ? [] : [put.message])];
    const question = put?.ask ?? null;
    const isMine = store.finishTurn(
      { id, owner: instance, jid, state, error, messages, session, question, run },
      now(),
    );
    if (isMine) records.store(turn, { state, error });
    return isMine;
  });
}

function putClosing(
  { store, newId }: Pick<StoreEndOptions, 'store' | 'newId'>,
  { id: turnId, jid }: Turn,
  question: ClosingQuestion | null,
) {
  if (question === null) return null;
  const kept = closingQuestion(question, turnId);
  return putQuestion({ store }, { id: newId(), jid, sender: null, kept });
}
