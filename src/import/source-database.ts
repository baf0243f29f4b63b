import { constants, copyFileSync, lstatSync, mkdtempSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { ImportRefused } from './imported-items.ts';

/**
 * Opens a copy of another assistant's database. SQLite writes beside a database even if it only reads it (`-shm`, and
 * the log of a program that was killed), so the source's own file is never opened. The copy includes that log: what was
 * written last is often only there.
 *
 * @throws ImportRefused for a file that is not a usable database
 */
export function openSourceDatabase(path: string, workDir: string): Database.Database {
  const copy = join(mkdtempSync(join(workDir, 'db-')), basename(path));
  for (const suffix of ['', '-wal', '-journal']) {
    const part = `${path}${suffix}`;
    const stats = lstatSync(part, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    // A link leads to any file of the machine, and a pipe would be waited for.
    if (!stats.isFile()) throw new ImportRefused(`${part} is no file. Nothing was changed.`);
    copyFileSync(part, `${copy}${suffix}`, constants.COPYFILE_FICLONE);
  }
  const database = new Database(copy, { fileMustExist: true });
  try {
    // The schema is the source's as well: it calls nothing but what is harmless.
    database.pragma('trusted_schema = OFF');
    const fault = faultIn(database);
    if (fault !== 'ok') throw new Error(fault);
  } catch (error) {
    database.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new ImportRefused(
      `${path} is damaged or no SQLite database (${reason}). Repair it with the assistant that it belongs to, then import again.`,
      { cause: error },
    );
  }
  return database;
}

/**
 * Has SQLite look through a database; returns `ok` or the first fault. It gives up at a virtual table whose extension is not
 * here: then the tables that hold everything are looked through one by one.
 */
function faultIn(database: Database.Database): string {
  try {
    return String(database.pragma('quick_check(1)', { simple: true }));
  } catch (error) {
    const byKind = database
      .prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' AND (type = 'virtual') = ?",
      )
      .pluck();
    if (byKind.get(1) === undefined) throw error;
    for (const name of byKind.all(0)) {
      const fault = database.pragma(`quick_check(${quotedName(String(name))})`, { simple: true });
      if (fault !== 'ok') return String(fault);
    }
    return 'ok';
  }
}

/**
 * Returns the columns of a table; none where there is no such table.
 *
 * @throws ImportRefused for a view by that name: its query could run for ever
 */
export function columnsOf(database: Database.Database, table: string): ReadonlySet<string> {
  const kind = database.prepare('SELECT type FROM sqlite_schema WHERE name = ?').pluck().get(table);
  if (kind === 'view') {
    throw new ImportRefused(
      `${table} is a view in ${database.name}, and no table of this product.`,
    );
  }
  const rows = database.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  return new Set(rows.map(String));
}

/** Returns a column of a table, or an SQL literal in its place if this version has no such column. */
export function columnOr(columns: ReadonlySet<string>, name: string, literal: string): string {
  return columns.has(name) ? name : `${literal} AS ${name}`;
}

/** Lists the tables that hold something of their own: no views, none of SQLite's, and none of a virtual table's. */
export function tablesOf(database: Database.Database): readonly string[] {
  return database
    .prepare(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .pluck()
    .all()
    .map(String);
}

/**
 * Counts the rows of a table; null for a virtual one that cannot be read here, such as an index that needs an extension. One
 * whose whole module is not here counts as empty: what it stores lies in tables of their own.
 */
export function countRows(database: Database.Database, table: string): number | null {
  try {
    return Number(
      database
        .prepare(`SELECT count(*) FROM ${quotedName(table)}`)
        .pluck()
        .get(),
    );
  } catch (error) {
    const isVirtual =
      database
        .prepare(
          "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type = 'virtual'",
        )
        .get(table) !== undefined;
    if (!isVirtual || !(error instanceof Database.SqliteError)) throw error;
    return error.message.includes('no such module') ? 0 : null;
  }
}

/** Counts the rows in which a column has a value other than null, an empty text or its default. */
export function countFilled(database: Database.Database, table: string, column: string): number {
  const byDefault = database
    .prepare('SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?')
    .pluck()
    .get(table, column);
  // Only a literal is compared: another expression would be a program of the source's.
  const isLiteral = /^(-?\d+(\.\d+)?|'(?:[^']|'')*')$/.test(String(byDefault));
  const name = quotedName(column);
  const count = database.prepare(`SELECT count(*) FROM ${quotedName(table)}
    WHERE ${name} IS NOT NULL AND ${name} <> ''${isLiteral ? ` AND ${name} <> ${byDefault}` : ''}`);
  return Number(count.pluck().get());
}

function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
