import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { makeNanoclaw, writeFiles } from '../../import/tests/nanoclaw-store.ts';
import { openStore } from '../../store/store.ts';
import { lockInstance } from '../../supervisor/instance-lock.ts';
import { type Codebase, temporaryCodebase } from '../../testing/claw/codebase.ts';

/** Makes a codebase with the database of an assistant that knows nobody. */
function project(): Codebase {
  const codebase = temporaryCodebase(
    {
      'package.json': '{ "name": "demo", "version": "1.0.0" }\n',
      'src/a.ts': 'export const one = 1;\n',
      'claw.config.yaml': 'exclude: [data/**]\nprivate: [groups]\ncheck: []\n',
      '.gitignore': 'data/\n.env\n',
      'groups/global/CLAUDE.md': 'Everybody speaks English.\n',
    },
    { git: true },
  );
  openStore({ path: codebase.path('data/claw.db'), now: 1 }).close();
  return codebase;
}

function rowsOf(codebase: Codebase, table: string): number {
  const database = new Database(codebase.path('data/claw.db'), { readonly: true });
  try {
    return Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  } finally {
    database.close();
  }
}

/** Everything of a project that an import could change. */
function seen(codebase: Codebase) {
  const files = Object.entries(codebase.tree()).filter(([path]) => !/^data\//.test(path));
  return {
    files,
    rows: ['messages', 'groups', 'tasks', 'chats'].map((table) => rowsOf(codebase, table)),
  };
}

test('claw undo takes an import back that is newer than the last command, and then that command', async () => {
  await using codebase = project();
  codebase.write({ 'src/a.ts': 'export const one = 11;\n' });
  expect((await codebase.claw('customize', 'eleven')).code).toBe(0);
  codebase.write({ 'src/a.ts': 'export const one = 111;\n' });
  const before = seen(codebase);
  const source = makeNanoclaw();
  expect((await codebase.claw('import', source.root, '--yes')).json.error).toBeNull();
  expect(rowsOf(codebase, 'groups')).toBeGreaterThan(0);
  expect(seen(codebase)).not.toEqual(before);
  const undone = await codebase.claw('undo', '--yes');
  expect(undone.json).toMatchObject({
    ok: true,
    data: { undone: `the import of nanoclaw from ${source.root}` },
  });
  expect(seen(codebase)).toEqual(before);
  expect((await codebase.claw('undo')).json).toMatchObject({
    data: { undone: 'customize eleven' },
  });
  expect((await codebase.claw('undo')).json).not.toMatchObject({ ok: true });
});

test('a command that came after the import is undone first', async () => {
  await using codebase = project();
  const source = makeNanoclaw();
  expect((await codebase.claw('import', source.root, '--yes')).json.error).toBeNull();
  codebase.write({ 'src/a.ts': 'export const one = 11;\n' });
  expect((await codebase.claw('customize', 'eleven')).code).toBe(0);
  expect((await codebase.claw('undo')).json).toMatchObject({
    data: { undone: 'customize eleven' },
  });
  expect(rowsOf(codebase, 'groups')).toBeGreaterThan(0);
  expect((await codebase.claw('undo', '--yes')).json).toMatchObject({ ok: true });
  expect(rowsOf(codebase, 'groups')).toBe(0);
});

test('an undo that loses later messages needs a yes, and a folder in use is left alone', async () => {
  await using codebase = project();
  const source = makeNanoclaw();
  writeFiles(source.root, { 'groups/main/own.md': 'mine\n' });
  expect((await codebase.claw('import', source.root, '--yes')).json.error).toBeNull();
  const database = new Database(codebase.path('data/claw.db'));
  database.exec(`INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, stored_at)
    SELECT jid, 'later', 'ada', 'Ada', 1, 'hello', 2, 2 FROM groups WHERE is_main = 1`);
  database.close();
  writeFileSync(codebase.path('groups/main/own.md'), 'mine, later\n');
  const asked = await codebase.claw('undo');
  expect(asked.json).toMatchObject({ ok: false });
  expect(asked.json.error?.message).toContain('Since the import, something was said in');
  expect(rowsOf(codebase, 'groups')).toBeGreaterThan(0);
  const lock = lockInstance(join(codebase.root, 'data'), process.pid);
  if (lock.kind !== 'held') throw new Error('The folder is in use.');
  expect((await codebase.claw('undo', '--yes')).json.error?.message).toContain('Stop it first');
  lock.release();
  expect((await codebase.claw('undo', '--yes')).json.ok).toBe(true);
  // What the owner has changed since is theirs.
  expect(codebase.read('groups/main/own.md')).toBe('mine, later\n');
});
