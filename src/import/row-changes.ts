import type { Database } from 'better-sqlite3';

/** The columns by which a row of a table is found. */
export type RowKey = Readonly<Record<string, string | number>>;

/** Makes and changes rows, and notes each so that it can be undone. */
export interface RowRecorder {
  /** Runs `change`, and notes what it did to one row. Nothing is noted where nothing changed. */
  change(table: string, key: RowKey, change: () => void): void;
  /** Notes that an item came, with what it became. */
  item(name: string, target: string | null): void;
  readonly count: number;
}

/** Makes the recorder of one import. */
export function createRowRecorder(database: Database, importId: number): RowRecorder {
  const insertItem = database.prepare(
    'INSERT INTO import_items (item, import, target) VALUES (?, ?, ?) ON CONFLICT (item) DO NOTHING',
  );
  const insertChange = database.prepare(`
    INSERT INTO import_changes (import, number, table_name, row_key, before_row, after_row)
    VALUES (?, ?, ?, ?, ?, ?)`);
  let number = 0;
  let items = 0;
  return {
    change(table, key, change) {
      const before = readRow(database, table, key);
      change();
      const after = readRow(database, table, key);
      if (after === null || after === before) return;
      number += 1;
      insertChange.run(importId, number, table, JSON.stringify(key), before, after);
    },
    item(name, target) {
      items += insertItem.run(name, importId, target).changes;
    },
    get count() {
      return number + items;
    },
  };
}

/** Returns a row as JSON; null where there is none. */
export function readRow(database: Database, table: string, key: RowKey): string | null {
  const row = database.prepare(`SELECT * FROM ${table} WHERE ${whereOf(key)}`).get(key);
  return row === undefined ? null : JSON.stringify(row);
}

/** The SQL that finds a row by its key. */
export function whereOf(key: RowKey): string {
  return Object.keys(key)
    .map((column) => `${column} = :${column}`)
    .join(' AND ');
}
