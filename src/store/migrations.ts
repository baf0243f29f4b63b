import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { StoreError } from './error.ts';

/** One step of the schema; `name` is `<owner>/<n>`, where the owner is `core` or a skill. */
export type Migration = {
  readonly name: string;
  readonly sql: string;
  /** The file it is written in, where that is outside `src/store/migrations/`. */
  readonly place?: string;
};

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
 * @param beforeChange called before the first one is applied to a database that is not new
 * @throws StoreError MIGRATION_REFUSED when one drops, renames or deletes
 * @throws StoreError MIGRATION_CHANGED when the file of an applied one says something else now
 */
export function applyMigrations(
  database: Database,
  migrations: readonly Migration[],
  now: number,
  beforeChange: () => void = () => {},
): void {
  makeTable(database);
  const applied = database.prepare('SELECT digest FROM migrations WHERE name = ?').pluck();
  const record = database.prepare(
    'INSERT INTO migrations (name, applied_at, digest) VALUES (?, ?, ?)',
  );
  const adopt = database.prepare('UPDATE migrations SET digest = ? WHERE name = ?');
  // All are looked at before the first is applied: a refusal leaves the database as it was.
  const missing = migrations.filter((migration) => {
    const known = applied.get(migration.name);
    if (known === undefined) {
      refuseRemoval(migration);
      return true;
    }
    // A tree from before the digests has applied it: the file as it is now is taken for that one.
    if (known === null) adopt.run(digestOf(migration), migration.name);
    else if (known !== digestOf(migration)) throw changed(migration);
    return false;
  });
  const isNew = database.prepare('SELECT 1 FROM migrations').get() === undefined;
  if (missing.length > 0 && !isNew) beforeChange();
  for (const migration of missing) {
    database.transaction(() => {
      database.exec(migration.sql);
      record.run(migration.name, now, digestOf(migration));
    })();
  }
}

/** Lists the faults of migrations that a database has applied; changes nothing. */
export function changesIn(
  database: Database,
  migrations: readonly Migration[],
): readonly StoreError[] {
  // Without digests it is of a tree from before them: the next start takes them.
  if (!hasDigests(database)) return [];
  const applied = database.prepare('SELECT digest FROM migrations WHERE name = ?').pluck();
  return migrations
    .filter((migration) => {
      const known = applied.get(migration.name);
      return typeof known === 'string' && known !== digestOf(migration);
    })
    .map(changed);
}

function makeTable(database: Database): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
  );
  // The table is older than this column, and a tree from before it leaves it empty.
  if (!hasDigests(database)) database.exec('ALTER TABLE migrations ADD COLUMN digest TEXT');
}

function hasDigests(database: Database): boolean {
  const columns = database.prepare("SELECT name FROM pragma_table_info('migrations')").pluck();
  return columns.all().includes('digest');
}

/** Computes the digest of a migration. Line ends do not count: git may convert them. */
function digestOf({ sql }: Migration): string {
  return createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
}

function changed({ name, place }: Migration): StoreError {
  const file = `src/store/migrations/${name}.sql`;
  const why = place === undefined ? ` (\`npx claw why ${file}\` shows whose lines changed)` : '';
  return new StoreError(
    'MIGRATION_CHANGED',
    `${place ?? file} was changed after it was applied to this database, which cannot follow. ` +
      `Put it back as it was${why} and write the change as a migration with a new number.`,
  );
}

function refuseRemoval({ name, sql, place = `Migration ${name}` }: Migration): void {
  const statements = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const removal = /\b(drop|rename|delete\s+from|replace\s+into)\b/i.exec(statements)?.[1];
  if (removal === undefined) return;
  throw new StoreError(
    'MIGRATION_REFUSED',
    `${place} contains "${removal}". Migrations only add, so that an older version still runs on this database.`,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
