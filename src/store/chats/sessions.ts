import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The agent's conversation that each group's folder goes on with. */
export interface Sessions {
  /** Returns the entry of a folder: a conversation, or the mark of a reset. */
  get(folder: string): string | null;
  /**
   * Returns the conversation that a turn goes on with: none after a reset, or when it was silent since
   * `since`.
   */
  resumable(folder: string, since: number): string | null;
  set(folder: string, session: string, now: number): void;
  /** Keeps the session of a finished turn, unless the entry is no longer `before`: a reset wins. */
  replace(next: NextSession, now: number): void;
  /** Ends the conversation: the next turn begins another, also when one is under way. */
  reset(folder: string, resetId: string, now: number): void;
}

/** The conversation after a turn, and what was kept of the folder when it began. */
export type NextSession = {
  readonly folder: string;
  readonly session: string;
  readonly before: string | null;
};

const Row = z.object({ session: z.string(), updated_at: z.int() });

/**
 * The mark of a reset, kept as an unknown session: other versions of the assistant hand it to their agent,
 * which begins a new conversation for a session it does not know.
 */
const RESET = 'reset-';

export function openSessions(database: Database): Sessions {
  const get = database.prepare('SELECT session, updated_at FROM sessions WHERE folder = ?');
  const upsert = database.prepare(`
    INSERT INTO sessions (folder, session, updated_at) VALUES (:folder, :session, :now)
    ON CONFLICT (folder) DO UPDATE SET session = :session, updated_at = :now`);

  const find = (folder: string) => {
    const row = get.get(folder);
    return row === undefined ? null : Row.parse(row);
  };
  const set: Sessions['set'] = (folder, session, now) => void upsert.run({ folder, session, now });
  return {
    get: (folder) => find(folder)?.session ?? null,
    resumable(folder, since) {
      const row = find(folder);
      return row === null || row.session.startsWith(RESET) || row.updated_at < since
        ? null
        : row.session;
    },
    set,
    replace({ folder, session, before }, now) {
      if ((find(folder)?.session ?? null) === before) set(folder, session, now);
    },
    reset: (folder, resetId, now) => set(folder, `${RESET}${resetId}`, now),
  };
}
