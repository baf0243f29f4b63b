import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openArchive } from '../../../store/backup/archive.ts';
import { saverBeforeMigration } from '../../../store/backup/before-migration.ts';
import { type KeptBackup, listBackups } from '../../../store/backup/kept-backups.ts';
import { READ_LIMITS } from '../../../store/backup/make-backup.ts';
import { openOwnDatabases } from '../../../store/own-databases.ts';
import { openStore } from '../../../store/store.ts';
import { type Codebase, commitAll, temporaryCodebase } from '../../../testing/claw/codebase.ts';

const CODE = 'export const one = 1;\n\nexport const two = 2;\n';

/** Makes a codebase with two releases and the database of an assistant. It stands on the first release. */
function withReleases(): Codebase {
  const manifest = (version: string) => `{ "name": "demo", "version": "${version}" }\n`;
  const codebase = temporaryCodebase(
    {
      'package.json': manifest('1.0.0'),
      'src/a.ts': CODE,
      'claw.config.yaml': 'check: []\n',
      '.gitignore': 'data/\n',
    },
    { git: true },
  );
  codebase.write({ 'package.json': manifest('2.0.0'), 'src/a.ts': CODE.replace('= 2', '= 22') });
  commitAll(codebase, 'second');
  codebase.git('tag', 'v2.0.0');
  codebase.git('reset', '--quiet', '--hard', 'v1.0.0');
  const store = openStore({ path: codebase.path('data/claw.db'), now: 1 });
  for (let n = 0; n < 300; n += 1) store.meta.set(`note-${n}`, 'x'.repeat(500));
  store.close();
  return codebase;
}

function backupsOf(codebase: Codebase): readonly KeptBackup[] {
  return listBackups(codebase.path('data/backups'));
}

/** Reads the files of an unlocked backup. */
async function filesIn({ file }: KeptBackup): Promise<ReadonlyMap<string, Buffer>> {
  const archive = await openArchive(file, {}, READ_LIMITS);
  const found = new Map<string, Buffer>();
  for await (const { path, bytes } of archive.files()) {
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    found.set(path, Buffer.concat(parts));
  }
  return found;
}

/** Writes nonsense over pages in the middle of a database. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  for (let page = 40; page < 60; page += 1) {
    writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, page * 4096);
  }
  closeSync(file);
}

test('an update in a shell saves the installation before it changes a file', async () => {
  await using codebase = withReleases();
  const { code, stderr } = await codebase.claw('update', 'v2.0.0');
  expect(code).toBe(0);
  expect(stderr).toContain('Saving what is here');
  expect(codebase.read('src/a.ts')).toContain('= 22');
  const [made, ...others] = backupsOf(codebase);
  expect(others).toEqual([]);
  expect(made?.reason).toBe('update');
  const saved = await filesIn(made as KeptBackup);
  expect(saved.get('project/src/a.ts')?.toString()).toBe(CODE);
  expect(saved.has('data/claw.db')).toBe(true);
});

test('an update that stopped at conflicts saves the installation when it continues', async () => {
  await using codebase = withReleases();
  codebase.write({ 'src/a.ts': CODE.replace('= 2', '= 3') });
  expect((await codebase.claw('update', 'v2.0.0')).code).toBe(3);
  expect(backupsOf(codebase)).toEqual([]);
  expect((await codebase.claw('resolve', 'src/a.ts', '--take', 'mine')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(backupsOf(codebase)).toHaveLength(1);
});

test('an update that cannot be saved before changes nothing, unless the owner wants it so', async () => {
  await using codebase = withReleases();
  expect((await codebase.claw('init')).code).toBe(0);
  damage(codebase.path('data/claw.db'));
  const sources = () => [
    codebase.read('src/a.ts'),
    codebase.read('package.json'),
    codebase.state(),
  ];
  const before = sources();
  const refused = await codebase.claw('update', 'v2.0.0');
  expect(refused.json).toMatchObject({
    ok: false,
    outcome: 'failed',
    error: { code: 'BACKUP_FAILED' },
  });
  expect(refused.json.error?.message).toContain('is damaged');
  expect(sources()).toEqual(before);
  codebase.write({ '.env': 'BACKUP_BEFORE_UPDATE=off\n' });
  expect((await codebase.claw('update', 'v2.0.0')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toContain('= 22');
});

test('other commands, and folders without an assistant, are not saved', async () => {
  await using codebase = withReleases();
  codebase.write({ 'src/a.ts': CODE.replace('= 1', '= 11') });
  expect((await codebase.claw('customize', 'eleven')).code).toBe(0);
  expect(backupsOf(codebase)).toEqual([]);
  codebase.remove('data');
  expect((await codebase.claw('update', 'v2.0.0')).code).toBe(0);
  expect(codebase.has('data')).toBe(false);
});

test('a repair saves the installation first, with the damaged database as it is', async () => {
  await using codebase = withReleases();
  const path = codebase.path('data/claw.db');
  mkdirSync(codebase.path('groups/main'), { recursive: true });
  writeFileSync(codebase.path('groups/main/CLAUDE.md'), 'Likes tea.\n');
  expect((await codebase.claw('repair')).code).toBe(0);
  expect(backupsOf(codebase)).toEqual([]);
  damage(path);
  const bytes = readFileSync(path);
  const { code, json } = await codebase.claw('repair');
  expect(json.error).toBeNull();
  expect(code).toBe(0);
  const [made] = backupsOf(codebase);
  expect(made?.reason).toBe('repair');
  const saved = await filesIn(made as KeptBackup);
  expect(saved.get('data/claw.db.damaged-before-repair')?.equals(bytes)).toBe(true);
  expect(saved.get('project/groups/main/CLAUDE.md')?.toString()).toBe('Likes tea.\n');
  expect(saved.has('data/claw.db')).toBe(false);
  // It can be restored: the database that was repaired stays, and the damaged one comes beside it.
  expect((await codebase.claw('restore', made?.name ?? '', '--yes')).json.error).toBeNull();
  const database = new Database(path, { readonly: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  database.close();
  expect(readFileSync(join(`${path}.damaged-before-repair`)).equals(bytes)).toBe(true);
});

test('a database whose head is gone is damaged, and no file to be saved without a word', async () => {
  await using codebase = withReleases();
  const file = openSync(codebase.path('data/claw.db'), 'r+');
  writeSync(file, Buffer.alloc(16), 0, 16, 0);
  closeSync(file);
  const { json } = await codebase.claw('backup');
  expect(json.error?.message).toContain('claw.db is damaged');
  expect(backupsOf(codebase)).toEqual([]);
});

test('the databases of the assistant and of skills are saved before their schema changes, in one backup', async () => {
  await using codebase = withReleases();
  const dataDir = codebase.path('data');
  const skill = (beforeMigration: () => void, ...migrations: string[]) => {
    const databases = openOwnDatabases({ dataDir, now: () => 1, beforeMigration });
    const database = databases.of('tool', 'notes')(migrations);
    const columns = database.pragma('table_info(notes)') as readonly { readonly name: string }[];
    databases.close();
    return columns.map(({ name }) => name);
  };
  const failures: string[] = [];
  const saver = () => saverBeforeMigration(codebase.root, (reason) => failures.push(reason));
  const [first, second] = ['CREATE TABLE notes (a)', 'ALTER TABLE notes ADD COLUMN b'];
  // New databases have nothing to lose.
  skill(saver(), first);
  expect(backupsOf(codebase)).toEqual([]);
  const save = saver();
  expect(skill(save, first, second)).toEqual(['a', 'b']);
  const migrationsDir = codebase.path('migrations');
  cpSync(join(import.meta.dirname, '../../../store/migrations'), migrationsDir, {
    recursive: true,
  });
  writeFileSync(join(migrationsDir, 'core/999.sql'), 'CREATE TABLE later (a)');
  openStore({
    path: join(dataDir, 'claw.db'),
    now: 2,
    migrationsDir,
    beforeMigration: save,
  }).close();
  const [made, ...others] = backupsOf(codebase);
  expect(made?.reason).toBe('migration');
  expect(others).toEqual([]);
  const saved = await filesIn(made as KeptBackup);
  const tables = (path: string) => {
    const database = new Database(saved.get(path) as Buffer);
    const all = database
      .prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')
      .pluck()
      .all();
    database.close();
    return all.join('\n');
  };
  expect(tables('data/databases/tool-notes.db')).toContain('CREATE TABLE notes (a)');
  expect(tables('data/claw.db')).not.toContain('later');
  // Without a backup the migration still takes place, and the reason is told.
  damage(join(dataDir, 'claw.db'));
  expect(skill(saver(), first, second, 'ALTER TABLE notes ADD COLUMN c')).toEqual(['a', 'b', 'c']);
  expect(failures.join()).toContain('is damaged');
  expect(backupsOf(codebase)).toHaveLength(1);
});
