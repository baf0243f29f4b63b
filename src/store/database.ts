import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isDamage, StoreError, unusable } from './error.ts';
import { applyMigrations, type Migration } from './migrations.ts';

export type { Database } from 'better-sqlite3';

/**
 * Opens the assistant's database and brings it up to the given migrations.
 *
 * `synchronous=FULL` because a message is acknowledged to the far end once it is stored here:
 * a commit that a power cut can undo would lose it.
 *
 * Damage that is found later, in any statement, is told to `told.onDamage` and thrown as the same StoreError as here.
 *
 * @param told.beforeMigration called before the schema of a database that is not new changes
 * @throws StoreError when a migration is refused, or what is there cannot be used
 */
export function openDatabase(
  path: string,
  migrations: readonly Migration[],
  now: number,
  told: {
    readonly onDamage?: ((error: StoreError) => void) | undefined;
    readonly beforeMigration?: (() => void) | undefined;
  } = {},
): Database.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its own files the mode of the database.
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    // With a million messages each new one meets other pages of the indexes. 16 MB of them stay in memory,
    // and are written into the database four times less often than by default.
    database.pragma('cache_size = -16384');
    database.pragma('wal_autocheckpoint = 4000');
    database.pragma('foreign_keys = ON');
    database.pragma('busy_timeout = 2000');
    applyMigrations(database, migrations, now, told.beforeMigration);
  } catch (error) {
    database.close();
    throw unusable(path, error);
  }
  reportDamage(database, path, told.onDamage ?? (() => {}));
  return database;
}

type Callable = (...values: never[]) => unknown;

/** Makes every way of using the database explain damage, so that no caller has to know the codes of it. */
function reportDamage(
  database: Database.Database,
  path: string,
  onDamage: (error: StoreError) => void,
): void {
  const explained = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const explanation = isDamage(error) ? unusable(path, error) : error;
      if (explanation instanceof StoreError && explanation !== error) onDamage(explanation);
      throw explanation;
    }
  };
  const wrap = (target: object, name: string) => {
    const method: Callable = Reflect.get(target, name).bind(target);
    Reflect.set(target, name, (...values: never[]) => explained(() => method(...values)));
  };
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    const statement = explained(() => prepare(sql));
    for (const name of ['get', 'all', 'run']) wrap(statement, name);
    const iterate = statement.iterate.bind(statement);
    statement.iterate = (...values: unknown[]) => {
      const rows = explained(() => iterate(...values));
      wrap(rows, 'next');
      return rows;
    };
    return statement;
  }) as typeof database.prepare;
  // A commit reads pages, too.
  const transaction = database.transaction.bind(database);
  database.transaction = ((work: Callable) => {
    const { default: begin, deferred, immediate, exclusive } = transaction(work);
    const run = (...values: never[]) => explained(() => begin(...values));
    return Object.assign(run, { default: run, deferred, immediate, exclusive, database });
  }) as unknown as typeof database.transaction;
  for (const name of ['exec', 'pragma']) wrap(database, name);
}

/** Brings a database that is open up to the given migrations. @throws StoreError when one is refused */
export function bringUpToDate(
  database: Database.Database,
  place: string,
  migrations: readonly Migration[],
  now: number,
  beforeMigration?: () => void,
): void {
  try {
    applyMigrations(database, migrations, now, beforeMigration);
  } catch (error) {
    throw unusable(place, error);
  }
}

/** Opens a database that is gone when it is closed. @throws StoreError when a migration is refused */
export function openMemoryDatabase(
  migrations: readonly Migration[],
  now: number,
): Database.Database {
  const database = new Database(':memory:');
  try {
    database.pragma('foreign_keys = ON');
    applyMigrations(database, migrations, now);
  } catch (error) {
    database.close();
    throw unusable('in memory', error);
  }
  return database;
}
