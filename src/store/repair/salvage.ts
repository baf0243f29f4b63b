import { closeSync, openSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { openPageFile, type PageFile } from './page-file.ts';
import { insertPage, placeStrayPages, type Target } from './stray-pages.ts';
import { inserter, quoted, shapeFromSql, shapeOf } from './table-shapes.ts';
import { readSchema, readTrees, rowsOf, type SchemaObject, type Tree } from './trees.ts';

/** The outcome of a salvage. */
export type Salvaged = {
  readonly tables: readonly SalvagedTable[];
  /** Rows of which it is unclear which table they are of: the new file has them in `lost_and_found`. */
  readonly unplacedRows: number;
  /** The answer of `integrity_check` for the new file: `ok`, or its first problem. */
  readonly integrity: string;
};

export type SalvagedTable = {
  readonly name: string;
  readonly rows: number;
  /** Pages of this table that could not be read, or only in part. */
  readonly damagedPages: number;
};

/** The schema that migrations make. */
export interface ReferenceSchema {
  /**
   * Makes an empty database with the schema of these migrations, in this order, or of all if null. The caller closes
   * it.
   */
  open(applied: readonly string[] | null): Database.Database;
}

const SHADOWS = ['data', 'idx', 'content', 'docsize', 'config'];
/**
 * The tables of a full-text index that are saved: its settings, and its own copy of the texts if it has one. The rest
 * is rebuilt from them.
 */
const KEPT_SHADOWS = ['content', 'config'];
const MIGRATIONS = 'migrations';

/**
 * Copies every row that can still be read from a damaged database into a new one.
 *
 * SQLite itself gives up a table whose first page is damaged, and everything if that is the file's first page. So the
 * pages are read one by one: those that the trees of the tables lead to, and then those that no tree leads to
 * any more, whose rows say by their shape which table they are of. The damaged file is only read.
 *
 * Full-text indexes are made again from their texts.
 */
export function salvage(
  damaged: string,
  into: string,
  reference: ReferenceSchema | null,
): Salvaged {
  const file = openPageFile(damaged);
  rmSync(into, { force: true });
  closeSync(openSync(into, 'wx', 0o600));
  const database = new Database(into);
  try {
    // Rows come in any order, and the parts of a search index are written to directly.
    database.unsafeMode(true);
    database.pragma('foreign_keys = OFF');
    // The file counts only when it is complete, and is brought to disk then.
    database.pragma('journal_mode = MEMORY');
    database.pragma('synchronous = OFF');
    return fill(database, file, reference);
  } finally {
    database.close();
    file.close();
  }
}

function fill(
  database: Database.Database,
  file: PageFile,
  reference: ReferenceSchema | null,
): Salvaged {
  const schema = readSchema(file);
  const trees = readTrees(file, schema.objects);
  const applied = appliedMigrations(file, trees);
  const objects = objectsOf(schema.objects, reference, applied);
  make(database, objects, ['table']);
  make(database, objects, ['index']);
  const targets = targetsOf(database, { trees, objects, old: schema.objects });
  const rows = new Map<string, number>();
  const count = (name: string, more: number) => rows.set(name, (rows.get(name) ?? 0) + more);
  const placed = new Set(schema.pages);

  database.exec('BEGIN');
  for (const { object, pages } of trees) {
    const target = targets.get(object.name);
    if (object.type !== 'table' || target === undefined || target.isDerived) {
      for (const number of pages) placed.add(number);
      continue;
    }
    for (const number of pages) {
      const inserted = insertPage(database, target, rowsOf(file, number));
      if (inserted === null) continue;
      placed.add(number);
      count(object.name, inserted);
    }
  }
  const isWhole = schema.isWhole && trees.every(({ damagedPages }) => damagedPages === 0);
  const stray = isWhole
    ? { unplacedRows: 0 }
    : placeStrayPages(database, file, { placed, targets: [...targets.values()], trees, count });
  keepCounters(database, file, trees);
  database.exec('COMMIT');

  remakeSearchIndexes(database, objects);
  if (applied === null) recordMigrations(database, reference);
  make(database, objects, ['view', 'trigger']);
  return {
    ...stray,
    tables: [...targets.values()]
      .filter(({ isDerived }) => !isDerived)
      .map(({ stored: { name } }) => ({
        name,
        rows: rows.get(name) ?? 0,
        damagedPages: trees.find(({ object }) => object.name === name)?.damagedPages ?? 0,
      })),
    integrity: String(database.pragma('integrity_check(1)', { simple: true })),
  };
}

/** Reads which migrations the database has seen, in their order; null if that is not sure. */
function appliedMigrations(file: PageFile, trees: readonly Tree[]): readonly string[] | null {
  const tree = trees.find(({ object }) => object.type === 'table' && object.name === MIGRATIONS);
  if (tree === undefined || tree.damagedPages > 0) return null;
  const rows = tree.pages.flatMap((number) => rowsOf(file, number));
  const names = rows.map(({ values }) => values[0]).filter((name) => typeof name === 'string');
  return names.length === 0 ? null : names;
}

/**
 * Decides what the new database consists of. The old schema is right as far as it can be read; the migrations have the
 * rest. If it is not sure which of them were applied, they are right, and the old schema has what they do not know.
 */
function objectsOf(
  old: readonly SchemaObject[],
  reference: ReferenceSchema | null,
  applied: readonly string[] | null,
): readonly SchemaObject[] {
  const known = reference === null ? [] : referenceObjects(reference, applied);
  const [first, second] = applied === null ? [known, old] : [old, known];
  const byName = new Map([...second, ...first].map((object) => [object.name, object]));
  return [...byName.values()].filter(
    ({ name, sql }) => sql !== null && !name.startsWith('sqlite_'),
  );
}

const ObjectRow = z.object({
  type: z.enum(['table', 'index', 'view', 'trigger']),
  name: z.string(),
  table: z.string(),
  sql: z.string().nullable(),
});

function referenceObjects(
  reference: ReferenceSchema,
  applied: readonly string[] | null,
): readonly SchemaObject[] {
  const database = reference.open(applied);
  try {
    return database
      .prepare('SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema ORDER BY rowid')
      .all()
      .map((row) => ({ ...ObjectRow.parse(row), root: 0 }));
  } finally {
    database.close();
  }
}

/** Makes the objects of some types; returns those that could be made. A damaged text is none. */
function make(
  database: Database.Database,
  objects: readonly SchemaObject[],
  types: readonly SchemaObject['type'][],
): readonly SchemaObject[] {
  const shadows = shadowsOf(objects);
  return objects.filter((object) => {
    if (!types.includes(object.type) || shadows.has(object.name)) return false;
    try {
      database.exec(object.sql ?? '');
      return true;
    } catch (error) {
      if (error instanceof Database.SqliteError) return false;
      throw error;
    }
  });
}

function searchIndexes(objects: readonly SchemaObject[]): readonly SchemaObject[] {
  return objects.filter(
    ({ type, sql }) => type === 'table' && /^\s*create\s+virtual\s+table\b/i.test(sql ?? ''),
  );
}

/** Lists the tables that a virtual table makes for itself. */
function shadowsOf(objects: readonly SchemaObject[]): ReadonlySet<string> {
  return new Set(
    searchIndexes(objects).flatMap(({ name }) => SHADOWS.map((part) => `${name}_${part}`)),
  );
}

function targetsOf(
  database: Database.Database,
  {
    trees,
    objects,
    old,
  }: {
    readonly trees: readonly Tree[];
    readonly objects: readonly SchemaObject[];
    readonly old: readonly SchemaObject[];
  },
): ReadonlyMap<string, Target> {
  const shadows = shadowsOf(objects);
  const virtual = new Set(searchIndexes(objects).map(({ name }) => name));
  const kept = new Set(
    [...virtual].flatMap((name) => KEPT_SHADOWS.map((part) => `${name}_${part}`)),
  );
  const names = objects.filter(({ type }) => type === 'table').map(({ name }) => name);
  const targets = new Map<string, Target>();
  for (const name of new Set([...names, ...shadows])) {
    const into = virtual.has(name) ? null : shapeOf(database, name);
    if (into === null) continue;
    const sql = old.find((object) => object.name === name)?.sql ?? null;
    const stored = (sql === null ? null : shapeFromSql(name, sql)) ?? into;
    if (kept.has(name)) database.exec(`DELETE FROM ${quoted(name)}`);
    const tree = trees.find(({ object }) => object.name === name);
    targets.set(name, {
      stored,
      insert: inserter(database, stored, into),
      isWhole: tree?.damagedPages === 0,
      isDerived: shadows.has(name) && !kept.has(name),
    });
  }
  return targets;
}

/** Numbers that were given out once are not given out again. */
function keepCounters(database: Database.Database, file: PageFile, trees: readonly Tree[]): void {
  const tree = trees.find(({ object }) => object.name === 'sqlite_sequence');
  if (tree === undefined || shapeOf(database, 'sqlite_sequence') === null) return;
  const raise = database.prepare(
    'UPDATE sqlite_sequence SET seq = max(seq, :seq) WHERE name = :name',
  );
  const begin = database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)');
  for (const { values } of tree.pages.flatMap((number) => rowsOf(file, number))) {
    const [name, seq] = values;
    if (typeof name !== 'string' || typeof seq !== 'bigint') continue;
    if (raise.run({ name, seq }).changes === 0) begin.run({ name, seq });
  }
}

function remakeSearchIndexes(database: Database.Database, objects: readonly SchemaObject[]): void {
  // Their texts may come from views.
  make(database, objects, ['view']);
  for (const { name } of searchIndexes(objects)) {
    try {
      database.exec(`INSERT INTO ${quoted(name)} (${quoted(name)}) VALUES ('rebuild')`);
    } catch (error) {
      // An index that keeps no texts cannot be made again: it finds nothing older.
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }
}

/** Without the record of them, the schema is that of all migrations: they are recorded as applied. */
function recordMigrations(database: Database.Database, reference: ReferenceSchema | null): void {
  if (reference === null || shapeOf(database, MIGRATIONS) === null) return;
  const known = reference.open(null);
  try {
    const rows = known.prepare(`SELECT name, applied_at, digest FROM ${MIGRATIONS}`).raw().all();
    const record = database.prepare(`INSERT OR REPLACE INTO ${MIGRATIONS} VALUES (?, ?, ?)`);
    for (const row of rows) record.run(...(row as unknown[]));
  } finally {
    known.close();
  }
}
