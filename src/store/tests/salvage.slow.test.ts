import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finishRepair, repairDatabase, schemaOfMigrations } from '../repair/repair.ts';
import { salvage } from '../repair/salvage.ts';
import { openStore } from '../store.ts';

const PAGE = 4096;
const NOW = 1_764_000_000_000;
const MESSAGES = 600;
/** Tables with rowids, and the names of all their columns that are compared. */
const TABLES = [
  'chats',
  'groups',
  'messages',
  'turns',
  'outbox',
  'tasks',
  'meta',
  'sessions',
  'turn_runs',
  'answers',
  'folder_holders',
];

let folder: string;
let whole: string;
/** Every row that was ever there: a damaged list of free pages cannot tell that some were deleted. */
let everWritten: ReadonlySet<string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-salvage-'));
  whole = join(folder, 'whole.db');
  writeLargeDatabase(whole);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a whole database is copied row by row', () => {
  const { damaged, salvaged } = damage(() => {});
  expect(salvaged.integrity).toBe('ok');
  expect(salvaged.unplacedRows).toBe(0);
  for (const table of TABLES) expect(rowsIn(`${damaged}.new`, table)).toEqual(rowsIn(whole, table));
  expect(schemaOf(`${damaged}.new`)).toEqual(schemaOf(whole));
});

test('search finds old words again, and numbers that were given out are not given out again', () => {
  const { damaged } = damage(() => {});
  const store = openStore({ path: `${damaged}.new`, now: NOW });
  const found = store.search.find({
    jids: ['test:1'],
    text: 'needle',
    from: 0,
    until: 2 * NOW,
    limit: 3,
  });
  store.close();
  expect(JSON.stringify(found)).toContain('needle');
});

test('damage of any page but one is survived by every row that does not lie on it', () => {
  const pages = readFileSync(whole).length / PAGE;
  const rows = locateRows(whole);
  // The schema and its neighbours, and some of the many that are alike.
  for (let page = 1; page <= pages; page += page < 8 ? 1 : 29) lawFor(rows, [page]);
});

test('the root of each table may be lost', () => {
  const rows = locateRows(whole);
  const database = new Database(whole, { readonly: true });
  const roots = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .pluck()
    .all() as readonly number[];
  database.close();
  for (const root of roots) lawFor(rows, [root]);
  // And those of all tables at once.
  lawFor(rows, roots);
});

test('a law: whatever pages are damaged at random, no row on the others is lost', () => {
  const rows = locateRows(whole);
  const pages = readFileSync(whole).length / PAGE;
  const random = mulberry(20_261_128);
  for (let round = 0; round < 12; round += 1) {
    const count = 1 + Math.floor(random() * random() * 40);
    lawFor(
      rows,
      Array.from({ length: count }, () => 1 + Math.floor(random() * pages)),
    );
  }
});

test('a file that was cut to half keeps what lies in that half', () => {
  const rows = locateRows(whole);
  const { damaged, salvaged } = damage((path) =>
    truncateSync(path, Math.floor(readFileSync(path).length / 2 / PAGE) * PAGE + 100),
  );
  const cut = Math.floor(readFileSync(whole).length / 2 / PAGE);
  expect(salvaged.integrity).toBe('ok');
  expectRows(rows, `${damaged}.new`, (page) => page <= cut);
});

test.each([16, 100, PAGE])(
  'a header of which %i bytes are overwritten costs nothing else',
  (bytes) => {
    const rows = locateRows(whole);
    const { damaged, salvaged } = damage((path) => overwrite(path, 0, Buffer.alloc(bytes, 0x5a)));
    expect(salvaged.integrity).toBe('ok');
    expectRows(rows, `${damaged}.new`, (page) => page > 1);
  },
);

test('rows that only the log has are salvaged too, also after a damaged frame', () => {
  const path = join(folder, 'logged.db');
  cpSync(whole, path);
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('wal_autocheckpoint = 0');
  for (const key of ['first', 'second', 'third']) {
    database.prepare('INSERT INTO meta VALUES (?, ?)').run(key, key.repeat(400));
  }
  const copy = join(folder, 'logged-copy.db');
  cpSync(path, copy);
  cpSync(`${path}-wal`, `${copy}-wal`);
  database.close();
  // In the middle of the first frame.
  overwrite(`${copy}-wal`, 32 + 24 + 100, Buffer.alloc(50, 0x5a));
  overwrite(copy, 0, Buffer.alloc(100, 0x5a));
  salvage(copy, `${copy}.new`, schemaOfMigrations(NOW));
  expect(rowsIn(`${copy}.new`, 'meta').length).toBe(rowsIn(whole, 'meta').length + 3);
});

test('rows of which nothing says whose they are go to lost_and_found', () => {
  const path = join(folder, 'twins.db');
  const database = new Database(path);
  database.exec('CREATE TABLE one (a TEXT, b INT) STRICT; CREATE TABLE two (a TEXT, b INT) STRICT');
  for (const table of ['one', 'two']) {
    for (let n = 0; n < 900; n += 1) {
      database.prepare(`INSERT INTO ${table} VALUES (?, ?)`).run(`${table} ${n}`, n);
    }
  }
  const roots = database
    .prepare('SELECT rootpage FROM sqlite_schema')
    .pluck()
    .all() as readonly number[];
  database.close();
  for (const root of roots) overwrite(path, (root - 1) * PAGE, Buffer.alloc(PAGE, 0x5a));
  const { unplacedRows, integrity } = salvage(path, `${path}.new`, null);
  expect({ unplacedRows, integrity }).toEqual({ unplacedRows: 1_800, integrity: 'ok' });
});

test('a repair that is killed between two renames is finished by the next', () => {
  const path = join(folder, 'killed.db');
  cpSync(whole, path);
  const { damagedFile } = repairDatabase(path, {
    reference: schemaOfMigrations(NOW),
    stamp: '20261128-010203',
  });
  expect(readFileSync(damagedFile)).toEqual(readFileSync(whole));
  // As it is when the process ends before the last rename.
  cpSync(path, `${path}.repaired`);
  rmSync(path);
  writeFileSync(`${path}-wal`, 'log of the damaged one');
  expect(finishRepair(path)).toBe(true);
  expect(rowsIn(path, 'messages')).toEqual(rowsIn(whole, 'messages'));
  expect(readFileSync(`${damagedFile}-wal`, 'utf8')).toBe('log of the damaged one');
});

test('a file without anything readable stays in its place', () => {
  const path = join(folder, 'noise.db');
  writeFileSync(path, Buffer.alloc(40 * PAGE, 0x5a));
  const repair = () => repairDatabase(path, { reference: null, stamp: 'x' });
  expect(repair).toThrow(/could not be repaired: no table was found/);
  expect(readFileSync(path)).toEqual(Buffer.alloc(40 * PAGE, 0x5a));
});

type LocatedRow = {
  readonly table: string;
  readonly row: string;
  readonly pages: readonly number[];
};

function lawFor(rows: readonly LocatedRow[], pages: readonly number[]): void {
  const bad = new Set(pages);
  const { damaged, salvaged, before } = damage((path) => {
    for (const page of bad) overwrite(path, (page - 1) * PAGE, Buffer.alloc(PAGE, 0x5a));
  });
  expect(salvaged.integrity, `pages ${pages.join(', ')}`).toBe('ok');
  expectRows(rows, `${damaged}.new`, (page) => !bad.has(page), `pages ${pages.join(', ')}`);
  expect(readFileSync(damaged).equals(before), 'the damaged file was touched').toBe(true);
}

function expectRows(
  rows: readonly LocatedRow[],
  path: string,
  isWhole: (page: number) => boolean,
  about = '',
): void {
  const found = new Map(TABLES.map((table) => [table, new Set(rowsIn(path, table))]));
  const stray = new Set(strayRows(path));
  const lost = rows.filter(
    ({ table, row, pages }) =>
      pages.every(isWhole) && !found.get(table)?.has(row) && !stray.has(row),
  );
  expect(lost, about).toEqual([]);
  // Nothing is made up either.
  const madeUp = [...found].flatMap(([table, set]) =>
    [...set].map((row) => `${table} ${row}`).filter((row) => !everWritten.has(row)),
  );
  expect(madeUp, about).toEqual([]);
}

function damage(change: (path: string) => void) {
  const damaged = join(folder, 'damaged.db');
  cpSync(whole, damaged);
  change(damaged);
  const before = readFileSync(damaged);
  const salvaged = salvage(damaged, `${damaged}.new`, schemaOfMigrations(NOW));
  return { damaged, salvaged, before };
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const all = readFileSync(path);
  bytes.copy(all, at);
  writeFileSync(path, all);
}

function rowsIn(path: string, table: string): readonly string[] {
  const database = new Database(path, { readonly: true });
  try {
    const rows = database
      .prepare(`SELECT rowid AS "#", * FROM ${table} ORDER BY rowid`)
      .raw()
      .all();
    return rows.map((row) => JSON.stringify(row));
  } finally {
    database.close();
  }
}

function strayRows(path: string): readonly string[] {
  const database = new Database(path, { readonly: true });
  try {
    const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'lost_and_found'").get();
    if (has === undefined) return [];
    const rows = database.prepare('SELECT id, content FROM lost_and_found').raw().all();
    return (rows as [number, string][]).map(([id, content]) => `[${id},${content.slice(1)}`);
  } finally {
    database.close();
  }
}

function schemaOf(path: string): unknown {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  } finally {
    database.close();
  }
}

/** Says for each row on which pages it lies, as SQLite itself counts them. */
function locateRows(path: string): readonly LocatedRow[] {
  const database = new Database(path, { readonly: true });
  try {
    return TABLES.flatMap((table) => {
      const rows = rowsIn(path, table);
      const pages = database
        .prepare('SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ? ORDER BY path')
        .all(table) as { path: string; pageno: number; pagetype: string; ncell: number }[];
      const leaves = pages.filter(({ pagetype }) => pagetype === 'leaf');
      let at = 0;
      return leaves.flatMap((leaf) =>
        Array.from({ length: leaf.ncell }, (_, cell) => {
          const prefix = `${leaf.path}${cell.toString(16).padStart(3, '0')}+`;
          const overflow = pages.filter((page) => page.path.startsWith(prefix));
          const row = rows[at] ?? '';
          at += 1;
          return { table, row, pages: [leaf.pageno, ...overflow.map(({ pageno }) => pageno)] };
        }),
      );
    });
  } finally {
    database.close();
  }
}

function writeLargeDatabase(path: string): void {
  openStore({ path, now: NOW }).close();
  const database = new Database(path);
  database.pragma('foreign_keys = ON');
  const run = (sql: string, ...values: unknown[]) => database.prepare(sql).run(...values);
  database.transaction(() => {
    for (let n = 1; n <= 40; n += 1) {
      run(
        "INSERT INTO chats (jid, channel, name, is_direct, seen_at) VALUES (?, 'test', ?, 1, ?)",
        `test:${n}`,
        `Chat ${n}`,
        NOW,
      );
      run(
        'INSERT INTO groups (jid, folder, name, needs_trigger, is_main, registered_at) VALUES (?, ?, ?, 1, 0, ?)',
        `test:${n}`,
        `chat-${n}`,
        `Chat ${n}`,
        NOW,
      );
      run('INSERT INTO sessions VALUES (?, ?, ?)', `chat-${n}`, `session-${n}`, NOW);
      run('INSERT INTO meta VALUES (?, ?)', `key-${n}`, 'x'.repeat(n * 20));
      run(
        "INSERT INTO tasks (folder, prompt, schedule_kind, schedule, time_zone, anchor, context, if_missed, state, created_by, created_at) VALUES (?, ?, 'cron', '0 9 * * *', 'UTC', ?, 'group', 'skip', 'active', 'ada', ?)",
        `chat-${n}`,
        `Remind me ${n}. ${'Long. '.repeat(n * 3)}`,
        NOW,
        NOW,
      );
    }
    for (let n = 1; n <= MESSAGES; n += 1) {
      const jid = `test:${1 + (n % 40)}`;
      const text =
        n % 97 === 0 ? `long ${n} ${'ä🙂 '.repeat(4_000)}` : `needle ${n} ${'hay '.repeat(n % 30)}`;
      run(
        'INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, stored_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        jid,
        `m${n}`,
        'ada',
        n % 2 === 0 ? null : 'Ada',
        n % 2,
        text,
        NOW + n,
        NOW + n,
      );
      if (n % 3 !== 0) continue;
      run(
        "INSERT INTO turns (id, jid, kind, state, from_seq, upto_seq, created_at) VALUES (?, ?, 'agent', 'answered', ?, ?, ?)",
        `t${n}`,
        jid,
        n,
        n,
        NOW,
      );
      run(
        "INSERT INTO outbox (message_id, jid, text, state, created_at, turn_id) VALUES (?, ?, ?, 'sent', ?, ?)",
        `a${n}`,
        jid,
        `answer ${n}`,
        NOW + n,
        `t${n}`,
      );
      run(
        "INSERT INTO turn_runs (turn_id, model, started_at, ended_at, state, left_out, model_calls, tool_calls, input_tokens, cache_write_tokens, cache_read_tokens, output_tokens, micro_usd, unpriced_calls) VALUES (?, 'm', ?, ?, 'answered', 0, 1, 0, 10, 0, 0, 5, 7, 0)",
        `t${n}`,
        NOW,
        NOW + 5,
      );
    }
  })();
  everWritten = new Set(
    TABLES.flatMap((table) => rowsIn(path, table).map((row) => `${table} ${row}`)),
  );
  // Pages that hold nothing any more still have old rows.
  run('DELETE FROM messages WHERE seq BETWEEN 200 AND 320');
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.pragma('journal_mode = DELETE');
  database.close();
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
