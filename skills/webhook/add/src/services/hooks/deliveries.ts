import { createHash } from 'node:crypto';
import type { OpenDatabase } from '../../lib/own-database.ts';

/** The deliveries that were taken, on disk, each by the names that its sender and its body give it. */
export interface Deliveries {
  isKnown(hook: string, keys: readonly string[]): boolean;
  keep(hook: string, keys: readonly string[]): void;
}

const MIGRATIONS = [
  `CREATE TABLE deliveries (
     hook TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (hook, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX deliveries_by_time ON deliveries (at);`,
];
/** Nobody sends again what is older, but a thief: GitHub's signatures have no time. */
const KEPT_MS = 400 * 86_400_000;

/** Opens the list in the service's own database. */
export function openDeliveries(openDatabase: OpenDatabase, now: () => number): Deliveries {
  const database = openDatabase(MIGRATIONS);
  const known = database.prepare('SELECT 1 FROM deliveries WHERE hook = ? AND key = ?');
  const insert = database.prepare('INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?)');
  database.prepare('DELETE FROM deliveries WHERE at < ?').run(now() - KEPT_MS);
  const digest = (key: string) => createHash('sha256').update(key).digest('base64url');
  const insertAll = database.transaction((hook: string, keys: readonly string[]) => {
    for (const key of keys) insert.run(hook, digest(key), now());
  });
  return {
    isKnown: (hook, keys) => keys.some((key) => known.get(hook, digest(key)) !== undefined),
    keep: (hook, keys) => insertAll(hook, keys),
  };
}

/**
 * Makes the id of the turn or message of a delivery. The same delivery has the same id: where the process ended before the
 * delivery was kept, it is not queued a second time.
 */
export function idOf(hook: string, key: string): string {
  const hex = createHash('sha256').update(`hook\0${hook}\0${key}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-');
}
