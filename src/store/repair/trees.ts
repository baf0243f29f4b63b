import { type BTreePage, readBTreePage, type StoredRow, type Value } from './b-tree-page.ts';
import type { PageFile } from './page-file.ts';

/** One row of `sqlite_schema`. */
export type SchemaObject = {
  readonly type: 'table' | 'index' | 'view' | 'trigger';
  readonly name: string;
  readonly table: string;
  /** The page where its B-tree begins; 0 if it has none. */
  readonly root: number;
  /** Null for the indexes that SQLite makes by itself. */
  readonly sql: string | null;
};

/** The pages of one table or index that can be reached from its root. */
export type Tree = {
  readonly object: SchemaObject;
  readonly pages: readonly number[];
  /** Pages that cannot be read, or of which a part cannot. */
  readonly damagedPages: number;
};

const SCHEMA_ROOT = 1;
const TYPES: readonly unknown[] = ['table', 'index', 'view', 'trigger'];

/** Reads what a database consists of: from its schema, and where that is damaged, from every page that has a part of it. */
export function readSchema(file: PageFile): {
  readonly objects: readonly SchemaObject[];
  readonly pages: readonly number[];
  readonly isWhole: boolean;
} {
  const walked = walk(file, SCHEMA_ROOT, true);
  const isWhole = walked.damagedPages === 0;
  const pages = isWhole ? walked.pages : [...walked.pages, ...strayLeaves(file, walked.pages)];
  const objects = new Map<string, SchemaObject>();
  for (const number of pages) {
    for (const { values } of readBTreePage(file, number)?.rows ?? []) {
      const object = schemaObject(values);
      if (object === null) continue;
      // Columns are only ever added: of two versions the longer is the newer.
      const known = objects.get(object.name);
      if ((known?.sql ?? '').length <= (object.sql ?? '').length) objects.set(object.name, object);
    }
  }
  return { objects: [...objects.values()], pages, isWhole };
}

function strayLeaves(file: PageFile, known: readonly number[]): readonly number[] {
  const free = freePages(file);
  return everyPage(file).filter((number) => {
    if (known.includes(number) || free.has(number)) return false;
    const page = readBTreePage(file, number);
    return (
      page?.isTable === true &&
      page.rows.length > 0 &&
      page.rows.every(({ values }) => schemaObject(values) !== null)
    );
  });
}

function schemaObject(values: readonly Value[]): SchemaObject | null {
  const [type, name, table, root, sql] = values;
  if (values.length !== 5 || !TYPES.includes(type)) return null;
  if (typeof name !== 'string' || typeof table !== 'string') return null;
  if (sql !== null && typeof sql !== 'string') return null;
  if (root !== null && typeof root !== 'bigint') return null;
  return { type: type as SchemaObject['type'], name, table, root: Number(root ?? 0), sql };
}

/** Reads all trees. A page that two of them claim belongs to neither: a damaged page points anywhere. */
export function readTrees(file: PageFile, objects: readonly SchemaObject[]): readonly Tree[] {
  const trees = objects
    .filter(({ root }) => root > SCHEMA_ROOT)
    .map((object) => ({ object, ...walk(file, object.root, isOfTable(file, object)) }));
  const claims = new Map<number, number>();
  for (const number of trees.flatMap(({ pages }) => pages)) {
    claims.set(number, (claims.get(number) ?? 0) + 1);
  }
  return trees.map(({ object, pages, damagedPages }) => {
    const own = pages.filter((number) => claims.get(number) === 1);
    return { object, pages: own, damagedPages: damagedPages + pages.length - own.length };
  });
}

/** Tells whether an object's pages are those of a table with rowids. */
function isOfTable(file: PageFile, { type, root }: SchemaObject): boolean {
  // Tables without rowids are stored as indexes are.
  return type === 'table' && (readBTreePage(file, root)?.isTable ?? true);
}

function walk(
  file: PageFile,
  root: number,
  isTable: boolean,
): { readonly pages: readonly number[]; readonly damagedPages: number } {
  const pages: number[] = [];
  const seen = new Set<number>();
  const waiting = [root];
  let damagedPages = 0;
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (seen.has(number)) continue;
    seen.add(number);
    const page = readBTreePage(file, number);
    if (page === null || page.isTable !== isTable) {
      damagedPages += 1;
      continue;
    }
    if (page.isDamaged) damagedPages += 1;
    pages.push(number);
    // Reversed, so that pages are read in the order of their rows.
    waiting.push(...page.children.toReversed());
  }
  return { pages, damagedPages };
}

/** Lists the pages with rows that no tree has, and that are not free. */
export function strayPages(
  file: PageFile,
  known: ReadonlySet<number>,
): readonly { readonly number: number; readonly page: BTreePage }[] {
  const free = freePages(file);
  return everyPage(file).flatMap((number) => {
    if (known.has(number) || free.has(number)) return [];
    const page = readBTreePage(file, number);
    return page === null || page.rows.length === 0 ? [] : [{ number, page }];
  });
}

/** Returns the rows of a page, in their order. */
export function rowsOf(file: PageFile, number: number): readonly StoredRow[] {
  return readBTreePage(file, number)?.rows ?? [];
}

function everyPage(file: PageFile): readonly number[] {
  return Array.from({ length: file.count }, (_, at) => at + 1);
}

/** Lists the pages that hold nothing any more, as far as the list of them can be read: they have old copies of rows. */
function freePages(file: PageFile): ReadonlySet<number> {
  const free = new Set<number>();
  const first = file.page(1);
  if (first === null || first.toString('latin1', 0, 6) !== 'SQLite') return free;
  let next = first.readUInt32BE(32);
  while (next > 1 && next <= file.count && !free.has(next)) {
    free.add(next);
    const trunk = file.page(next);
    if (trunk === null) break;
    const count = Math.min(trunk.readUInt32BE(4), file.usableBytes / 4 - 2);
    for (let at = 0; at < count; at += 1) free.add(trunk.readUInt32BE(8 + 4 * at));
    next = trunk.readUInt32BE(0);
  }
  return free;
}
