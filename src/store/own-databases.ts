import { join } from 'node:path';
import { NotUsable } from '../lib/contribution.ts';
import type { OwnDatabase, OwnDatabases } from '../lib/own-database.ts';
import { bringUpToDate, type Database, openDatabase, openMemoryDatabase } from './database.ts';
import { StoreError } from './error.ts';
import type { Migration } from './migrations.ts';

/** Names that are files everywhere. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/**
 * Opens the databases of contributions, each when it is asked for: `data/databases/service-hook.db`.
 *
 * @param options.beforeMigration called before the schema of one that is not new changes
 */
export function openOwnDatabases({
  dataDir,
  now,
  beforeMigration,
}: {
  readonly dataDir: string;
  readonly now: () => number;
  readonly beforeMigration?: () => void;
}): OwnDatabases {
  const pathOf = (key: string) => join(databasesFolder(dataDir), `${key}.db`);
  const openAt = (path: string, steps: readonly Migration[]) =>
    openDatabase(path, steps, now(), { beforeMigration });
  return ownDatabases(pathOf, now, openAt, beforeMigration);
}

/**
 * Opens databases in memory in place of those of contributions: their migrations are tried, and nothing on disk
 * is touched.
 */
export function openMemoryDatabases({ now }: { readonly now: () => number }): OwnDatabases {
  const placeOf = (key: string) => `the database of ${key}`;
  return ownDatabases(placeOf, now, (_, steps) => openMemoryDatabase(steps, now()));
}

/** Returns the folder of the contributions' own databases. */
export function databasesFolder(dataDir: string): string {
  return join(dataDir, 'databases');
}

function ownDatabases(
  placeOf: (key: string) => string,
  now: () => number,
  openAt: (place: string, steps: readonly Migration[]) => Database,
  beforeMigration?: () => void,
): OwnDatabases {
  const open = new Map<string, Database>();
  let isClosed = false;

  function openOnce(key: string, migrations: readonly string[]): OwnDatabase {
    if (isClosed) throw new NotUsable('The assistant is ending, and opens no database any more.');
    const place = placeOf(key);
    const steps = migrations.map((sql, at) => ({
      name: `${key}/${at + 1}`,
      sql,
      place: `migration ${at + 1} of ${place}`,
    }));
    const known = open.get(key);
    if (known !== undefined) {
      // Another file of the contribution may know more of them.
      bringUpToDate(known, place, steps, now(), beforeMigration);
      return known;
    }
    const database = openAt(place, steps);
    open.set(key, database);
    return database;
  }

  return {
    of: (kind, name) => (migrations) => {
      if (!NAME.test(name)) {
        throw new NotUsable(`The ${kind} ${name} has no name that a file may have.`);
      }
      try {
        return openOnce(`${kind}-${name}`, migrations);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        throw new NotUsable(error.message);
      }
    },
    close() {
      isClosed = true;
      for (const database of open.values()) database.close();
      open.clear();
    },
  };
}
