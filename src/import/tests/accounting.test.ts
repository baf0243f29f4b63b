import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { filesLeft, ignored, keysLeft, left, NOT_KNOWN, READ } from '../accounting.ts';
import type { Plan } from '../plan.ts';
import { digests, Installation } from './bench.ts';
import { makeNanoclaw, writeFiles } from './nanoclaw-store.ts';
import { makeOpenclaw } from './openclaw-store.ts';
import { makeHermes, makeNanobot, makeNanoclaw2 } from './other-stores.ts';

/** Each store, the folders whose files are ignored by a rule of their source, and the file of its settings. */
const STORES = {
  'NanoClaw 1': {
    make: () => makeNanoclaw(),
    ignored: /^(container|data\/sessions\/[^/]+\/\.claude\/(projects|skills\/agent-browser))\//,
  },
  'NanoClaw 2': { make: makeNanoclaw2, ignored: null },
  'OpenClaw with files': { make: () => makeOpenclaw('files'), ignored: null },
  'OpenClaw with SQLite': { make: () => makeOpenclaw('sqlite'), ignored: null },
  Hermes: { make: makeHermes, ignored: null },
  nanobot: { make: () => makeNanobot(), ignored: null },
  clawft: { make: () => makeNanobot('.clawft'), ignored: null },
} as const;

/** What the lines of a plan say about the place of a file: its own, or that of a folder above it. */
function linesAbout({ lines }: Plan, root: string, path: string): readonly string[] {
  const places = path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
  return lines
    .filter(({ what }) => {
      const named = what.replace(/ \(\d+ of its entries\)$/, '');
      return places.some((place) => named === place || named === join(root, place));
    })
    .map(({ text }) => text);
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)];
}

test.for(Object.keys(STORES) as (keyof typeof STORES)[])(
  'nothing that %s usually has is unknown',
  async (name) => {
    const { plan } = await new Installation().import(STORES[name].make(), { isPlanOnly: true });
    expect(plan.lines.filter(({ text }) => text === NOT_KNOWN)).toEqual([]);
  },
);

test.for(Object.keys(STORES) as (keyof typeof STORES)[])(
  'an unknown file in any folder of %s comes, has a line, or is ignored by a rule',
  async (name) => {
    const here = new Installation();
    const source = STORES[name].make();
    const folders = new Set(digests(source.root).flatMap(([path]) => foldersAbove(String(path))));
    const strangers = [...folders, 'never-seen', 'never-seen/deep']
      .map((folder, at) => join(folder, `stranger-${at}.xyz`))
      .filter((path) => STORES[name].ignored?.test(path) !== true);
    for (const path of strangers) {
      mkdirSync(dirname(join(source.root, path)), { recursive: true });
      writeFileSync(join(source.root, path), `the text of ${path}`);
    }
    const { plan } = await here.import(source, { isTakeOver: true });
    const came = new Set(digests(here.project).map(([, digest]) => digest));
    const stored = new Map(digests(source.root).map(([path, digest]) => [path, digest]));
    const lost = strangers.filter((path) => {
      return !came.has(stored.get(path) ?? '') && linesAbout(plan, source.root, path).length === 0;
    });
    expect(lost).toEqual([]);
    expect(linesAbout(plan, source.root, 'never-seen/x')).toEqual([NOT_KNOWN]);
  },
);

test.for([
  ['OpenClaw', () => makeOpenclaw('files'), 'openclaw.json'],
  ['nanobot', () => makeNanobot(), 'config.json'],
  ['Hermes', makeHermes, 'config.yaml'],
] as const)('an unknown key in the settings of %s has a line', async ([, make, file]) => {
  const source = make();
  writeFiles(source.root, {
    [file]: JSON.stringify({
      channels: { telegram: { glow: true } },
      agents: { defaults: {} },
      novelty: { colour: 'red' },
    }),
  });
  const { plan } = await new Installation().import(source, { isPlanOnly: true });
  const unknown = plan.lines.filter(({ text }) => text === NOT_KNOWN).map(({ what }) => what);
  expect(unknown).toContain(`novelty in ${file}`);
  expect(unknown.some((what) => /^channels(\.telegram\.glow)? in /.test(what))).toBe(true);
});

/** The databases of each store, by the name that lines give them, and the tables of which a rule needs nothing. */
const DATABASES = {
  'NanoClaw 1': {
    files: { 'store/messages.db': ['store/messages.db'] },
    ignored: ['router_state', 'sessions'],
  },
  'NanoClaw 2': {
    files: {
      'data/v2.db': ['data/v2.db'],
      'data/v2-sessions': ['ag/s1', 'ag2/s2'].flatMap((session) =>
        ['inbound', 'outbound'].map((name) => `data/v2-sessions/${session}/${name}.db`),
      ),
    },
    ignored: ['users'],
  },
  'OpenClaw with SQLite': {
    files: Object.fromEntries(
      ['agents/main/agent/openclaw-agent.sqlite', 'state/openclaw.sqlite'].map((path) => [
        path,
        [path],
      ]),
    ),
    ignored: [],
  },
  Hermes: { files: { 'state.db': ['state.db'] }, ignored: [] },
} as const;

/** Adds a table and, to each table, two columns that no rule knows; returns how many rows each has. */
function addStrangers(path: string): ReadonlyMap<string, number> {
  const database = new Database(path);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck()
    .all()
    .map(String);
  for (const table of tables) {
    database.exec(`ALTER TABLE ${table} ADD COLUMN "its mood" TEXT;
      ALTER TABLE ${table} ADD COLUMN unused INTEGER NOT NULL DEFAULT 0;
      UPDATE ${table} SET "its mood" = 'calm'`);
  }
  database.exec(
    `CREATE TABLE "odd/one" (a); INSERT INTO "odd/one" VALUES (1), (2); CREATE TABLE empty (a)`,
  );
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  const counts = new Map(tables.map((table) => [table, count(table)]));
  database.close();
  return counts;
}

test.for(Object.keys(DATABASES) as (keyof typeof DATABASES)[])(
  'an unknown table and an unknown column in any table of %s have a line with the number of rows',
  async (name) => {
    const source = STORES[name].make();
    const expected: string[] = [];
    for (const [file, paths] of Object.entries(DATABASES[name].files)) {
      const rows = new Map<string, number>();
      for (const path of paths) {
        for (const [table, count] of addStrangers(join(source.root, path))) {
          rows.set(table, count + (rows.get(table) ?? 0));
        }
      }
      const ignoredTables: readonly string[] = DATABASES[name].ignored;
      for (const [table, count] of rows) {
        if (count === 0 || ignoredTables.includes(table)) continue;
        expected.push(
          `the column its mood of ${table} in ${file} (${count} ${count === 1 ? 'row' : 'rows'})`,
        );
      }
      expected.push(`the table odd/one in ${file} (${2 * paths.length} rows)`);
    }
    const { plan } = await new Installation().import(source, { isPlanOnly: true });
    const unknown = plan.lines.filter(({ text }) => text === NOT_KNOWN).map(({ what }) => what);
    expect(unknown.toSorted()).toEqual(expected.toSorted());
  },
);

test('many unknown tables of one database are one line with their names', async () => {
  const source = makeHermes();
  const database = new Database(join(source.root, 'state.db'));
  for (const name of 'abcdef')
    database.exec(`CREATE TABLE ${name} (x); INSERT INTO ${name} VALUES (1)`);
  for (const name of 'uvwxyz')
    database.exec(`ALTER TABLE messages ADD COLUMN ${name} DEFAULT 'no'`);
  database.exec('UPDATE messages SET u = 1, v = 1, w = 1, x = 1, y = 1, z = 1');
  database.close();
  const { plan } = await new Installation().import(source, { isPlanOnly: true });
  expect(plan.lines.filter(({ text }) => text === NOT_KNOWN).map(({ what }) => what)).toEqual([
    '6 tables in state.db (6 rows): a, b, c, d, e, f',
    '6 columns of messages in state.db: u, v, w, x, y, z',
  ]);
});

test('an index that only the other assistant can read has a line, and ends nothing', async () => {
  const source = makeHermes();
  const database = new Database(join(source.root, 'state.db'));
  database.exec(`CREATE VIRTUAL TABLE found USING fts5(words);
    INSERT INTO found VALUES ('the keel is blue');
    CREATE VIRTUAL TABLE odd USING fts5(words);
    CREATE VIRTUAL TABLE near USING fts5(words)`);
  database.unsafeMode(true);
  database.pragma('writable_schema = ON');
  database.exec(`UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE odd USING fts5(words, elvish = 1)'
    WHERE name = 'odd';
    UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE near USING vec0(words)' WHERE name = 'near'`);
  database.close();
  const { plan } = await new Installation().import(source, { isPlanOnly: true });
  expect(plan.lines.filter(({ text }) => text === NOT_KNOWN).map(({ what }) => what)).toEqual([
    'the table found in state.db (1 row)',
    // A whole module that is not here: what it has stored is in tables of its own.
    'the table near_config in state.db (1 row)',
    'the table near_data in state.db (2 rows)',
    'the table odd in state.db (rows that cannot be counted here)',
  ]);
});

test('the workspace that the settings of nanobot name comes, and the usual one beside it has a line', async () => {
  const here = new Installation();
  const source = makeNanobot();
  const named = join(source.home, 'notes/bot');
  const settings = { agents: { defaults: { workspace: '~/notes/bot' } } };
  writeFiles(source.root, { 'config.json': JSON.stringify(settings) });
  writeFiles(named, {
    'memory/MEMORY.md': 'The boat lies in Kiel.\n',
    'plans/mast.md': 'Oil it.\n',
    'sessions/telegram_7.jsonl': '{"role":"user","content":"the keel is blue"}\n',
    'sessions/odd.txt': 'x',
    'cron/runs/1.json': '{}',
  });
  const { plan } = await here.import(source);
  const came = digests(here.project).map(([path]) => path);
  expect(came).toContain('groups/main/plans/mast.md');
  expect(came).not.toContain('groups/main/memory/HISTORY.md');
  expect(here.all('SELECT text FROM messages')).toEqual([{ text: 'the keel is blue' }]);
  const lines = plan.lines.filter(({ kind }) => kind === 'stays');
  expect(lines.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      'workspace',
      join(named, 'cron/runs'),
      join(named, 'sessions/odd.txt'),
    ]),
  );
  const { plan: without } = await new Installation().import(makeNanobotNaming('../nowhere'));
  expect(without.lines.find(({ text }) => text.includes('no such folder'))?.what).toMatch(
    /nowhere$/,
  );
  const { plan: inItself } = await new Installation().import(makeNanobotNaming('..'));
  expect(inItself.lines.some(({ text }) => text.includes('holds its keys'))).toBe(true);
});

function makeNanobotNaming(workspace: string) {
  const source = makeNanobot();
  writeFiles(source.root, {
    'config.json': JSON.stringify({ agents: { defaults: { workspace } } }),
  });
  return source;
}

test('the first rule that matches decides, and a folder of which nothing is known is one line', () => {
  const { root } = makeNanoclaw();
  writeFiles(root, { 'new/a': '', 'new/b/c': '', 'part/known': '', 'part/other': '', 'x.log': '' });
  const rules = {
    'part/known': READ,
    'x.*': left('a log'),
    '*.log': ignored('never reached'),
    ...Object.fromEntries(
      ['.env', 'package.json', 'groups/**', 'store/**', 'data/**'].map((path) => [path, READ]),
    ),
  };
  expect(filesLeft(root, rules)).toEqual([
    { what: 'new', why: NOT_KNOWN },
    { what: 'part/other', why: NOT_KNOWN },
    { what: 'x.log', why: 'a log' },
  ]);
  const settings = { 'a/b': { c: 1 }, list: [{ id: 1, x: 2 }], none: {} };
  expect(keysLeft(settings, 'f.json', { 'list/*/id': READ })).toEqual([
    { what: 'a\u2215b in f.json', why: NOT_KNOWN },
    { what: 'list.0.x in f.json', why: NOT_KNOWN },
  ]);
});
