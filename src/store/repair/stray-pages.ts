import type Database from 'better-sqlite3';
import { z } from 'zod';
import type { StoredRow, Value } from './b-tree-page.ts';
import type { PageFile } from './page-file.ts';
import { fits, type InsertRow, quoted, type TableShape } from './table-shapes.ts';
import { rowsOf, strayPages, type Tree } from './trees.ts';

/** A table as it was stored, and its place in the new file. */
export type Target = {
  readonly stored: TableShape;
  readonly insert: InsertRow;
  /** True if all its pages were found, so that no page without a tree can be its own. */
  readonly isWhole: boolean;
  /** True for what is made again, such as the words of a search index. */
  readonly isDerived: boolean;
};

/** Rows of a page that are looked at to find its table. */
const SAMPLE = 16;

/** Inserts the rows of a page; null, and nothing done, if most are refused: it is a page of another table. */
export function insertPage(
  database: Database.Database,
  { insert, stored }: Target,
  rows: readonly StoredRow[],
): number | null {
  let [inserted, refused] = [0, 0];
  database.exec('SAVEPOINT page');
  for (const row of rows) {
    const outcome = fits(stored, row) ? insert(row) : 'refused';
    if (outcome === 'inserted') inserted += 1;
    if (outcome === 'refused') refused += 1;
  }
  const isOther = refused * 2 > rows.length;
  database.exec(isOther ? 'ROLLBACK TO page; RELEASE page' : 'RELEASE page');
  return isOther ? null : inserted;
}

/**
 * Inserts the rows of pages that no tree leads to any more. A page goes to the table that its rows fit. If they fit
 * several, indexes and references decide; if these know nothing, the rows go to `lost_and_found`.
 */
export function placeStrayPages(
  database: Database.Database,
  file: PageFile,
  options: {
    readonly placed: ReadonlySet<number>;
    readonly targets: readonly Target[];
    readonly trees: readonly Tree[];
    readonly count: (table: string, rows: number) => void;
  },
): { readonly unplacedRows: number } {
  const { placed, targets, count } = options;
  const keep = openLostAndFound(database);
  const indexes = openIndexes(database, file, options.trees);
  let unplacedRows = 0;
  const pages = strayPages(file, placed).map(({ number, page }) => {
    const sample = page.rows.slice(0, SAMPLE);
    const isFitting = (target: Target) =>
      !target.isWhole && sample.every((row) => fits(target.stored, row));
    return { number, page, sample, candidates: targets.filter(isFitting) };
  });
  // What is certain comes first: it says of the rest which table it is of, or that it is an index.
  const rank = (page: (typeof pages)[number]) =>
    Number(!page.page.isTable) * 2 + Number(page.candidates.length > 1);
  pages.sort((one, other) => rank(one) - rank(other));
  for (const { number, page, sample, candidates } of pages) {
    if (!page.isTable && (candidates.length === 0 || isOfIndex(database, targets, sample)))
      continue;
    const evidence = (target: Target) =>
      2 * indexes.share(target, sample) + referencesFound(database, target, sample);
    const chosen = candidates.length > 1 ? bestOf(candidates, evidence) : candidates[0];
    if (chosen?.isDerived === true) continue;
    const inserted = chosen === undefined ? null : insertPage(database, chosen, page.rows);
    if (chosen !== undefined && inserted !== null) {
      count(chosen.stored.name, inserted);
      continue;
    }
    for (const row of page.rows) keep(number, row);
    unplacedRows += page.rows.length;
  }
  return { unplacedRows };
}

function openLostAndFound(database: Database.Database): (page: number, row: StoredRow) => void {
  let insert: Database.Statement | null = null;
  return (page, { rowid, values }) => {
    if (insert === null) {
      database.exec('CREATE TABLE lost_and_found (page INTEGER, id INTEGER, content TEXT)');
      insert = database.prepare('INSERT INTO lost_and_found VALUES (?, ?, ?)');
    }
    insert.run(page, rowid, JSON.stringify(values.map(readable)));
  };
}

function readable(value: Value): unknown {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  return Buffer.isBuffer(value) ? { hex: value.toString('hex') } : value;
}

/** Chooses the table with the most evidence; undefined if two have the same. */
function bestOf(
  candidates: readonly Target[],
  evidence: (target: Target) => number,
): Target | undefined {
  const scored = candidates.map((target) => ({ target, score: evidence(target) }));
  scored.sort((one, other) => other.score - one.score);
  const [best, next] = scored;
  return best !== undefined && best.score > (next?.score ?? -1) ? best.target : undefined;
}

/** The old file's indexes, read when they are needed. */
function openIndexes(database: Database.Database, file: PageFile, trees: readonly Tree[]) {
  const read = new Map<string, ReadonlyMap<bigint, readonly Value[]>>();
  const keysByRow = ({ object, pages }: Tree) => {
    const known = read.get(object.name);
    if (known !== undefined) return known;
    const entries = pages.flatMap((number) => rowsOf(file, number));
    const keys = new Map(
      entries.flatMap(({ values }) => {
        const rowid = values.at(-1);
        return typeof rowid === 'bigint' ? [[rowid, values.slice(0, -1)] as const] : [];
      }),
    );
    read.set(object.name, keys);
    return keys;
  };
  return {
    /** Returns the share of the rows that an index of this table has, under the same values. */
    share({ stored }: Target, rows: readonly StoredRow[]): number {
      const own = trees.filter(
        ({ object }) => object.type === 'index' && object.table === stored.name,
      );
      const shares = own.map((tree) => {
        const columns = columnsOfIndex(database, tree.object.name);
        const keys = keysByRow(tree);
        const found = rows.filter((row) => {
          const key = row.rowid === null ? undefined : keys.get(row.rowid);
          return key?.every((value, at) => value === valueIn(stored, row, columns[at])) === true;
        });
        return found.length / rows.length;
      });
      return Math.max(0, ...shares);
    },
  };
}

function valueIn(stored: TableShape, row: StoredRow, column: string | null | undefined): Value {
  if (column === stored.rowidColumn) return row.rowid;
  return row.values[stored.columns.findIndex(({ name }) => name === column)] ?? null;
}

const Reference = z.object({ table: z.string(), from: z.string(), to: z.string().nullable() });

/** Returns the share of a table's references that lead to a row which is there already. */
function referencesFound(
  database: Database.Database,
  { stored }: Target,
  rows: readonly StoredRow[],
): number {
  const references = database
    .prepare('SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)')
    .all(stored.name)
    .map((row) => Reference.parse(row));
  if (references.length === 0) return 0;
  const found = references.flatMap(({ table, from, to }) => {
    const at = stored.columns.findIndex(({ name }) => name === from);
    const is = database
      .prepare(`SELECT 1 FROM ${quoted(table)} WHERE ${to === null ? 'rowid' : quoted(to)} = ?`)
      .pluck();
    return rows.map((row) => {
      const value = from === stored.rowidColumn ? row.rowid : (row.values[at] ?? null);
      return value !== null && is.get(value) === 1;
    });
  });
  return found.filter(Boolean).length / found.length;
}

const IndexRow = z.object({ name: z.string() });
const IndexColumn = z.object({ name: z.string().nullable() });

/** Tells whether rows are the entries of an index: their last value is the rowid of a row with the others. */
function isOfIndex(
  database: Database.Database,
  targets: readonly Target[],
  rows: readonly StoredRow[],
): boolean {
  return targets.some(({ stored }) => {
    if (!stored.hasRowid) return false;
    const indexes = database
      .prepare('SELECT name FROM pragma_index_list(?)')
      .all(stored.name)
      .map((row) => IndexRow.parse(row).name);
    return indexes.some((index) => {
      const columns = columnsOfIndex(database, index);
      const names = columns.filter((name) => name !== null);
      if (names.length !== columns.length) return false;
      const conditions = names.map((name) => `${quoted(name)} IS ?`).join(' AND ');
      const is = database
        .prepare(`SELECT 1 FROM ${quoted(stored.name)} WHERE rowid = ? AND ${conditions}`)
        .pluck();
      const found = rows.filter(({ values }) => {
        if (values.length !== columns.length + 1) return false;
        return is.get(values.at(-1) ?? null, ...values.slice(0, -1)) === 1;
      });
      return found.length * 2 > rows.length;
    });
  });
}

function columnsOfIndex(database: Database.Database, index: string): readonly (string | null)[] {
  return database
    .prepare('SELECT name FROM pragma_index_info(?) ORDER BY seqno')
    .all(index)
    .map((row) => IndexColumn.parse(row).name);
}
