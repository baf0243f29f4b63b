import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** Small facts about the installation, by key. */
export interface Meta {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
}

const Row = z.object({ value: z.string() });

export function openMeta(database: Database): Meta {
  const get = database.prepare('SELECT value FROM meta WHERE key = ?');
  const set = database.prepare(`
    INSERT INTO meta (key, value) VALUES (:key, :value)
    ON CONFLICT (key) DO UPDATE SET value = :value`);
  const remove = database.prepare('DELETE FROM meta WHERE key = ?');
  return {
    get(key) {
      const row = get.get(key);
      return row === undefined ? null : Row.parse(row).value;
    },
    set: (key, value) => void set.run({ key, value }),
    remove: (key) => void remove.run(key),
  };
}
