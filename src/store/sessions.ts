import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The agent's conversation that each group's folder goes on with. */
export interface Sessions {
  get(folder: string): string | null;
  set(folder: string, session: string, now: number): void;
}

const Row = z.object({ session: z.string() });

export function sessionsOf(database: Database): Sessions {
  const get = database.prepare('SELECT session FROM sessions WHERE folder = ?');
  const set = database.prepare(`
    INSERT INTO sessions (folder, session, updated_at) VALUES (:folder, :session, :now)
    ON CONFLICT (folder) DO UPDATE SET session = :session, updated_at = :now`);
  return {
    get(folder) {
      const row = get.get(folder);
      return row === undefined ? null : Row.parse(row).session;
    },
    set: (folder, session, now) => void set.run({ folder, session, now }),
  };
}
