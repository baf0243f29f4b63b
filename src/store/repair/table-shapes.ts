import Database from 'better-sqlite3';
import { z } from 'zod';
import type { StoredRow, Value } from './b-tree-page.ts';

/** How rows of a table are stored, and how one is inserted again. */
export type TableShape = {
  readonly name: string;
  readonly hasRowid: boolean;
  /** In the order in which their values are stored. */
  readonly columns: readonly Column[];
  /** The column that is another name of the rowid: its stored value is null. */
  readonly rowidColumn: string | null;
  readonly isStrict: boolean;
};

type Column = {
  readonly name: string;
  readonly type: string;
  readonly mayBeNull: boolean;
  readonly hasDefault: boolean;
};

const ColumnRow = z.object({
  name: z.string(),
  type: z.string(),
  notnull: z.int(),
  dflt_value: z.string().nullable(),
  pk: z.int(),
  hidden: z.int(),
});
const TableRow = z.object({ name: z.string(), wr: z.int(), strict: z.int() });

/** Reads the shape of a table in a database; null if there is none of this name. */
export function shapeOf(database: Database.Database, name: string): TableShape | null {
  const found = database
    .prepare('SELECT name, wr, strict FROM pragma_table_list WHERE name = ? AND schema = ?')
    .get(name, 'main');
  if (found === undefined) return null;
  const { wr, strict } = TableRow.parse(found);
  const rows = database
    .prepare('SELECT * FROM pragma_table_xinfo(?)')
    .all(name)
    .map((row) => ColumnRow.parse(row))
    // A virtual generated column is computed, not stored.
    .filter(({ hidden }) => hidden === 0 || hidden === 3);
  const key = rows.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk);
  const isAlias = wr === 0 && key.length === 1 && key[0]?.type.toUpperCase() === 'INTEGER';
  // A table without rowids stores its key first.
  const stored = wr === 0 ? rows : [...key, ...rows.filter(({ pk }) => pk === 0)];
  return {
    name,
    hasRowid: wr === 0,
    isStrict: strict === 1,
    rowidColumn: isAlias ? (key[0]?.name ?? null) : null,
    columns: stored.map(({ name: column, type, notnull, dflt_value, pk }) => ({
      name: column,
      type: type.toUpperCase(),
      mayBeNull: notnull === 0 && !(pk > 0 && wr === 1),
      hasDefault: dflt_value !== null,
    })),
  };
}

/** Reads the shape that a `CREATE TABLE` describes; null if it cannot be carried out. */
export function shapeFromSql(name: string, sql: string): TableShape | null {
  const database = new Database(':memory:');
  try {
    database.exec(sql);
    return shapeOf(database, name);
  } catch {
    return null; // Its text was damaged; the migrations know the table.
  } finally {
    database.close();
  }
}

/** Tells whether a row can be one of a table. It has fewer values if columns were added after it was written. */
export function fits(shape: TableShape, { rowid, values }: StoredRow): boolean {
  if ((rowid !== null) !== shape.hasRowid || values.length > shape.columns.length) return false;
  return shape.columns.every((column, at) => {
    if (at >= values.length) return column.mayBeNull || column.hasDefault;
    const value = values[at] ?? null;
    if (column.name === shape.rowidColumn) return value === null;
    if (value === null) return column.mayBeNull;
    return !shape.isStrict || isOfType(column.type, value);
  });
}

function isOfType(type: string, value: Value): boolean {
  if (type === 'TEXT') return typeof value === 'string';
  if (type === 'INT' || type === 'INTEGER') return typeof value === 'bigint';
  if (type === 'REAL') return typeof value === 'number' || typeof value === 'bigint';
  return type === 'BLOB' ? Buffer.isBuffer(value) : true;
}

/** The outcome of an insertion: `known` means that the table has a row with this key. */
export type Inserted = 'inserted' | 'known' | 'refused';
export type InsertRow = (row: StoredRow) => Inserted;

/** Prepares inserting rows of the shape `from` into a table that may have other columns, or an order of its own. */
export function inserter(
  database: Database.Database,
  from: TableShape,
  into: TableShape,
): InsertRow {
  const wanted = new Set(into.columns.map(({ name }) => name));
  const statements = new Map<number, Database.Statement>();
  const keepsRowid = from.hasRowid && into.hasRowid && from.rowidColumn === null;
  const statementFor = (length: number) => {
    const known = statements.get(length);
    if (known !== undefined) return known;
    const names = from.columns.slice(0, length).map(({ name }) => name);
    const columns = [
      ...(keepsRowid ? ['rowid'] : []),
      ...names.filter((name) => wanted.has(name)).map(quoted),
    ];
    const marks = columns.map(() => '?').join(', ');
    const statement = database.prepare(
      `INSERT INTO ${quoted(into.name)} (${columns.join(', ')}) VALUES (${marks})`,
    );
    statements.set(length, statement);
    return statement;
  };
  return ({ rowid, values }) => {
    const own = values.flatMap((value, at) => {
      const name = from.columns[at]?.name;
      if (name === undefined || !wanted.has(name)) return [];
      return [name === from.rowidColumn ? rowid : value];
    });
    try {
      statementFor(values.length).run(...(keepsRowid ? [rowid] : []), ...own);
      return 'inserted';
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_CONSTRAINT')) {
        throw error;
      }
      return /_(UNIQUE|PRIMARYKEY|ROWID)$/.test(error.code) ? 'known' : 'refused';
    }
  };
}

/** Quotes the name of a table or column. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
