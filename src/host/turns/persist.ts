import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from '../../store/error.ts';
import type { LogPort, TimeoutsPort } from '../contracts/ports.ts';

const MAX_PAUSE_MS = 60_000;

export type PersistOptions = LogPort &
  TimeoutsPort & {
    /** The thing that is written, for the log. */
    readonly what: string;
    /** True once this process may not write any more: it is ending, or the turn is gone. */
    readonly isOver: () => boolean;
  };

/**
 * Writes something that has already happened and cannot be repeated: an answer that was paid for, a message that was
 * sent. While the disk is full, or another process holds the database, it tries again.
 *
 * @returns what `write` does, or null where it is over before
 * @throws what does not pass by waiting
 */
export async function persist<T>(write: () => T, options: PersistOptions): Promise<T | null> {
  const { what, isOver, log, timeouts } = options;
  for (let attempt = 0; !isOver(); attempt += 1) {
    try {
      return write();
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.error('the database takes nothing now, it is tried again', {
        what,
        error: String(error),
      });
    }
    await delay(Math.min(timeouts.retryMs * 2 ** attempt, MAX_PAUSE_MS));
  }
  return null;
}
