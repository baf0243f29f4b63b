import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { StoreError } from './error.ts';

/** One step of the schema; `name` is `<owner>/<n>`, where the owner is `core` or a skill. */
export type Migration = { readonly name: string; readonly sql: string };

/**
 * Finds `<folder>/<owner>/<n>.sql`: the core's first, then by owner, each owner's in numeric order.
 * A skill brings its own by adding a file.
 */
export function discoverMigrations(folder: string): readonly Migration[] {
  const owners = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort((one, other) => Number(other === 'core') - Number(one === 'core') || compare(one, other));
  return owners.flatMap((owner) =>
    readdirSync(join(folder, owner))
      .map((file) => /^([1-9]\d*)\.sql$/.exec(file)?.[1])
      .filter((number) => number !== undefined)
      .sort((one, other) => Number(one) - Number(other))
      .map((number) => ({
        name: `${owner}/${number}`,
        sql: readFileSync(join(folder, owner, `${number}.sql`), 'utf8'),
      })),
  );
}

/**
 * Applies what the database has not seen yet, each migration in a transaction of its own.
 *
 * Recorded names that this tree does not know are left alone, so that an older tree runs on a
 * newer database. That is safe only because a migration never takes anything away.
 *
 * @throws StoreError MIGRATION_REFUSED when one drops, renames or deletes
 */
export function applyMigrations(
  database: Database,
  migrations: readonly Migration[],
  now: number,
): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
  );
  const isApplied = database.prepare('SELECT 1 FROM migrations WHERE name = ?');
  const record = database.prepare('INSERT INTO migrations (name, applied_at) VALUES (?, ?)');
  for (const migration of migrations) {
    if (isApplied.get(migration.name) !== undefined) continue;
    refuseRemoval(migration);
    database.transaction(() => {
      database.exec(migration.sql);
      record.run(migration.name, now);
    })();
  }
}

function refuseRemoval({ name, sql }: Migration): void {
  const statements = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const removal = /\b(drop|rename|delete\s+from|replace\s+into)\b/i.exec(statements)?.[1];
  if (removal === undefined) return;
  throw new StoreError(
    'MIGRATION_REFUSED',
    `Migration ${name} contains "${removal}". Migrations only add, so that an older version still runs on this database.`,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
