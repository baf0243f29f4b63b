import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOwnDatabases } from '../../store/own-databases.ts';
import { openStore } from '../../store/store.ts';
import { examinedProject, REPOSITORY } from '../../testing/claw/examined-project.ts';

const project = examinedProject();

test('a database that is whole, one with a changed migration, and one that is damaged', async () => {
  const path = join(project.data, 'claw.db');
  const migrations = join(REPOSITORY, 'src/store/migrations');
  const copy = join(project.folder, 'migrations');
  cpSync(migrations, copy, { recursive: true });
  writeFileSync(join(copy, 'core/1.sql'), '-- another\n', { flag: 'a' });
  openStore({ path, migrationsDir: copy, now: 1 }).close();
  expect(await project.found('database')).toMatchObject([
    { ok: false, message: expect.stringContaining('migrations/core/1.sql was changed') },
  ]);
  rmSync(path);
  openStore({ path, now: 1 }).close();
  expect(await project.found('database')).toMatchObject([
    { ok: true, message: expect.stringContaining('whole') },
  ]);
  writeFileSync(path, 'SQLite format 3\0 and nothing of the kind'.repeat(99));
  expect(await project.found('database')).toMatchObject([
    { ok: false, message: expect.stringContaining('is damaged') },
  ]);
});

test('the database of a skill that is damaged is named, one that is whole needs no line', async () => {
  const own = openOwnDatabases({ dataDir: project.data, now: () => 1 });
  own.of('tool', 'notes')(['CREATE TABLE notes (id INTEGER)']);
  own.of('service', 'hook')(['CREATE TABLE seen (id INTEGER)']);
  own.close();
  expect(await project.found('database')).toHaveLength(1);
  const path = join(project.data, 'databases/service-hook.db');
  writeFileSync(path, 'SQLite format 3\0 and nothing of the kind'.repeat(99));
  expect(await project.found('database')).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining(`${path} is damaged`) },
  ]);
});

test('messages that wait because a filter cannot look at them are counted with its reason', async () => {
  expect(await project.found('inbound')).toEqual([]);
  const store = openStore({ path: join(project.data, 'claw.db'), now: 1 });
  store.chats.see({ jid: 'chat:ada', channel: 'chat', name: 'Ada', isDirect: true }, 1);
  store.groups.registerMain({ jid: 'chat:ada', name: 'Ada' }, 1);
  for (const id of ['a', 'b', 'c']) {
    store.heldMessages.add({ jid: 'chat:ada', id, sender: 'ada', payload: {} }, 1);
  }
  for (const seq of [1, 2]) store.heldMessages.note(seq, 'spam: no dictionary');
  store.close();
  expect(await project.found('inbound')).toMatchObject([
    { ok: false, message: '2 messages wait for the inbound filter spam: no dictionary' },
  ]);
});
