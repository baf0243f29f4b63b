import type { OpenStep, Turn } from '../../../store/store.ts';
import type { ClockPort, LogPort, StorePort } from '../../contracts/ports.ts';
import { beginRecord, type TurnRecord } from './turn-record.ts';

/** Records of the turns that run. */
export interface TurnRecords {
  /** Begins the record of a run of a turn, which replaces one that was never stored. */
  begin(turn: Turn): TurnRecord;
  /** Stores the record of a turn with its end; called within that transaction, and again where that fails. */
  store(turn: Turn, end: { readonly state: string; readonly error: string | null }): void;
  /** The turn is over, or another process's. */
  forget(turn: Turn): void;
}

/** Opens the records. One that cannot be stored is logged and left out: the answer matters more. */
export function openTurnRecords({ store, now, log }: StorePort & ClockPort & LogPort): TurnRecords {
  const running = new Map<string, TurnRecord>();

  function note(step: OpenStep): void {
    try {
      store.turnRuns.note(step);
    } catch (error) {
      // The whole record is stored with the end of the turn, if there is one.
      log.warn('a step of a turn was not noted', { turn: step.turnId, error: String(error) });
    }
  }

  return {
    begin(turn) {
      const record = beginRecord(turn.id, now, (step, number, runStartedAt) => {
        if (running.get(turn.id) === record) note({ turnId: turn.id, runStartedAt, number, step });
      });
      running.set(turn.id, record);
      return record;
    },
    store(turn, end) {
      const record = running.get(turn.id);
      if (record === undefined) return;
      try {
        store.turnRuns.add(record.ended(end));
      } catch (error) {
        running.delete(turn.id);
        log.error('the steps of a turn were not recorded', {
          turn: turn.id,
          error: String(error),
        });
      }
    },
    forget: (turn) => void running.delete(turn.id),
  };
}
