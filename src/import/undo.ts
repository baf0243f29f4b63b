import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '../store/database.ts';
import {
  carryOutChanges,
  digestAt,
  type FileChange,
  importsFolder,
  readJournal,
  removeJournal,
  writeJournal,
} from './file-journal.ts';
import { PRODUCTS, type Product } from './imported-items.ts';
import { type RowKey, readRow, whereOf } from './row-changes.ts';
import type { Target } from './target.ts';

const Run = z.object({
  id: z.int(),
  product: z.enum(PRODUCTS),
  source: z.string(),
  folder: z.string(),
  imported_at: z.int(),
  messages_after: z.int(),
  messages_upto: z.int(),
  answers_after: z.int(),
  answers_upto: z.int(),
});
type Run = z.output<typeof Run>;

const Change = z.object({
  table_name: z.string(),
  row_key: z.string(),
  before_row: z.string().nullable(),
  after_row: z.string(),
});
const ChangedFile = z.object({
  place: z.enum(['project', 'data']),
  path: z.string(),
  number: z.int(),
  before_digest: z.string().nullable(),
  after_digest: z.string(),
});
const Key = z.record(z.string(), z.union([z.string(), z.number()]));
const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

/** The newest import, and what would be lost if it were undone. */
export type UndoPlan = {
  readonly run: {
    readonly id: number;
    readonly product: Product;
    readonly source: string;
    readonly importedAt: number;
  };
  readonly messages: number;
  /** Chats in which something was said since: their registration goes, what was said stays. */
  readonly usedChats: readonly string[];
  /** Files and rows that were changed since, and stay. */
  readonly kept: readonly string[];
};

/** Returns what undoing the newest import would do; null if there is none. */
export function planUndo({ database, roots }: Target): UndoPlan | null {
  const run = newestRun(database);
  if (run === null) return null;
  const used = database
    .prepare(`
      SELECT name FROM groups JOIN import_changes
        ON import = :id AND table_name = 'groups' AND row_key = json_object('jid', groups.jid)
      WHERE EXISTS (SELECT 1 FROM messages WHERE messages.jid = groups.jid AND seq > :messages_upto)
        OR EXISTS (SELECT 1 FROM answers WHERE answers.jid = groups.jid AND seq > :answers_upto)
      ORDER BY name`)
    .pluck()
    .all(run);
  const rows = changesOf(database, run.id).flatMap((change) =>
    isAsImported(database, change) ? [] : [nameOf(change)],
  );
  const files = filesOf(database, run).flatMap(({ place, path, before }) =>
    digestAt(roots[place], path) === before ? [] : [path],
  );
  return {
    run: { id: run.id, product: run.product, source: run.source, importedAt: run.imported_at },
    messages: run.messages_upto - run.messages_after + run.answers_upto - run.answers_after,
    usedChats: used.map(String),
    kept: [...new Set([...rows, ...files])],
  };
}

/**
 * Undoes the newest import: its rows and files are removed, and the replaced ones come back. Rows and files that were
 * changed since stay as they are.
 *
 * @returns what stayed
 */
export function undoImport(
  target: Target,
  onStep: (step: string) => void = () => {},
): readonly string[] {
  const { database, roots } = target;
  const run = newestRun(database);
  if (run === null) return [];
  const files = filesOf(database, run);
  const kept: string[] = [];
  const journal = { kind: 'undo', id: run.id, changes: files } as const;
  database
    .transaction(() => {
      for (const change of changesOf(database, run.id)) {
        if (!takeBackRow(database, change)) kept.push(nameOf(change));
      }
      removeHistory(database, run);
      removeUnusedChats(database, run.id);
      database.prepare('DELETE FROM imports WHERE id = ?').run(run.id);
      writeJournal(roots.data, journal);
      onStep('journal');
    })
    .immediate();
  onStep('committed');
  const keptFiles = carryOutChanges(roots, journal, () => onStep('file'));
  removeJournal(roots.data);
  rmSync(join(importsFolder(roots.data), run.folder), { recursive: true, force: true });
  return [...new Set([...kept, ...keptFiles])];
}

/**
 * Finishes an import or undo that was killed after the database had decided, and deletes the staged files of one that
 * was killed before. Returns true if something was finished.
 */
export function recoverImport({ database, roots }: Target, inUse: readonly string[] = []): boolean {
  const journal = readJournal(roots.data);
  let isFinished = false;
  if (journal !== null) {
    const isThere = database.prepare('SELECT 1 FROM imports WHERE id = ?').get(journal.id);
    if ((isThere !== undefined) === (journal.kind === 'import')) {
      carryOutChanges(roots, journal);
      isFinished = true;
    }
    removeJournal(roots.data);
  }
  const folders = new Set(database.prepare('SELECT folder FROM imports').pluck().all().map(String));
  for (const name of foldersIn(importsFolder(roots.data))) {
    const path = join(importsFolder(roots.data), name);
    if (inUse.includes(path)) continue;
    if (!folders.has(name)) rmSync(path, { recursive: true, force: true });
    else rmSync(join(path, 'new'), { recursive: true, force: true });
  }
  return isFinished;
}

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // No import was ever begun.
  }
}

function newestRun(database: Database): Run | null {
  const row = database.prepare('SELECT * FROM imports ORDER BY id DESC LIMIT 1').get();
  return row === undefined ? null : Run.parse(row);
}

type RowChange = {
  readonly table: string;
  readonly key: RowKey;
  readonly before: string | null;
  readonly after: string;
};

/** The newest change first: a row that refers to another goes before it. */
function changesOf(database: Database, id: number): readonly RowChange[] {
  return database
    .prepare(`SELECT table_name, row_key, before_row, after_row FROM import_changes
      WHERE import = ? ORDER BY number DESC`)
    .all(id)
    .map((raw) => {
      const {
        table_name: table,
        row_key: key,
        before_row: before,
        after_row: after,
      } = Change.parse(raw);
      return { table, key: Key.parse(JSON.parse(key)), before, after };
    });
}

function filesOf(database: Database, { id, folder }: Run): readonly FileChange[] {
  return database
    .prepare(`SELECT place, path, number, before_digest, after_digest FROM import_files
      WHERE import = ? ORDER BY path`)
    .all(id)
    .map((raw) => {
      const { place, path, number, before_digest: was, after_digest: is } = ChangedFile.parse(raw);
      const staged = was === null ? null : `${folder}/before/${number}`;
      return { place, path, before: is, after: was, staged };
    });
}

/** Columns that change by themselves while an assistant works: they are nobody's edit. */
const BY_ITSELF: Readonly<Record<string, readonly string[]>> = {
  chats: ['name', 'seen_at', 'person', 'merged_into', 'is_dismissed'],
  groups: ['name', 'is_away', 'since_seq'],
  tasks: ['state', 'next_run', 'last_due'],
  task_runs: [],
  folder_holders: ['held_at'],
};

function isAsImported(database: Database, { table, key, after }: RowChange): boolean {
  const row = readRow(database, table, key);
  if (row === null) return true;
  const ignored = BY_ITSELF[table] ?? [];
  const now = Row.parse(JSON.parse(row));
  const then = Row.parse(JSON.parse(after));
  return Object.keys(then).every((name) => ignored.includes(name) || now[name] === then[name]);
}

/** Returns false for a row that was changed since: it stays. */
function takeBackRow(database: Database, change: RowChange): boolean {
  const { table, key, before } = change;
  if (readRow(database, table, key) === null) return true;
  if (!isAsImported(database, change)) return false;
  // Chats go last, where nothing refers to them any more.
  if (table === 'chats' && before === null) return true;
  if (before === null) {
    database.prepare(`DELETE FROM ${table} WHERE ${whereOf(key)}`).run(key);
    return true;
  }
  const columns = Row.parse(JSON.parse(before));
  const names = Object.keys(columns);
  const set = names.map((name) => `${name} = :set_${name}`).join(', ');
  const values = Object.fromEntries(names.map((name) => [`set_${name}`, columns[name]]));
  database.prepare(`UPDATE ${table} SET ${set} WHERE ${whereOf(key)}`).run({ ...key, ...values });
  return true;
}

function removeHistory(database: Database, run: Run): void {
  for (const [table, after, upto] of [
    ['messages', run.messages_after, run.messages_upto],
    ['answers', run.answers_after, run.answers_upto],
  ] as const) {
    database.prepare(`DELETE FROM ${table} WHERE seq > ? AND seq <= ?`).run(after, upto);
  }
}

/** Deletes the chats that this import made known, unless something else refers to them by now. */
function removeUnusedChats(database: Database, id: number): void {
  const references = ['messages', 'answers', 'groups', 'folder_holders'];
  const free = references.map(
    (table) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE jid = chats.jid)`,
  );
  database
    .prepare(`DELETE FROM chats WHERE ${free.join(' AND ')}
      AND NOT EXISTS (SELECT 1 FROM chats AS other WHERE other.merged_into = chats.jid)
      AND json_object('jid', jid) IN (
        SELECT row_key FROM import_changes
        WHERE import = ? AND table_name = 'chats' AND before_row IS NULL)`)
    .run(id);
}

function nameOf({ table, key }: RowChange): string {
  return `${table} ${Object.values(key).join(' ')}`;
}
