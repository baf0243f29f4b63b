import Database from 'better-sqlite3';
import { changesIn, discoverMigrations } from './migrations.ts';

/** Opens the database to look at it, also while the assistant uses it. */
export function openReadOnly(path: string): Database.Database {
  return new Database(path, { readonly: true, fileMustExist: true, timeout: 2_000 });
}

/** Returns a sentence for each applied migration whose file says something else now. */
export function changedMigrations(
  database: Database.Database,
  folder = `${import.meta.dirname}/migrations`,
): readonly string[] {
  return changesIn(database, discoverMigrations(folder)).map(({ message }) => message);
}
