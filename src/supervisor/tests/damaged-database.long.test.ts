import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import {
  environmentOf,
  TestConversation,
  TestTree,
} from '../../testing/claw/supervised-project.ts';

const PAGE = 4096;

/** Starts the assistant, says something, and waits for its end. */
async function converse(tree: TestTree, text: string) {
  await using conversation = TestConversation.start(tree);
  const exitCode = await conversation.end(text);
  return { exitCode, said: conversation.stdout + conversation.stderr };
}

function claw(tree: TestTree, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/claw.js', ...args], {
    cwd: tree.dir,
    env: environmentOf(tree),
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

function starts(tree: TestTree): number {
  const log = readFileSync(tree.logFile('supervisor'), 'utf8');
  return log.split('the assistant was started').length - 1;
}

/** Overwrites the first page of a table, or of the file. */
function damage(path: string, table: string | null): void {
  let page = 1;
  if (table !== null) {
    const database = new Database(path, { readonly: true });
    const root = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck();
    page = Number(root.get(table));
    database.close();
  }
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * PAGE, page * PAGE);
  writeFileSync(path, bytes);
}

test('a damaged database stops the assistant once, in words, and claw repair brings it back', async () => {
  using tree = new TestTree();
  const path = join(tree.dataDir, 'claw.db');
  const first = await converse(tree, 'hello there\n/groups\n');
  expect(first).toMatchObject({ exitCode: 0, said: expect.stringContaining('Registered:') });

  for (const table of [null, 'outbox', 'messages']) {
    damage(path, table);
    const before = readFileSync(path);
    const startsBefore = starts(tree);
    const broken = await converse(tree, 'hello again\n/groups\n');
    expect(broken.exitCode, `${table}: ${broken.said}`).toBe(1);
    expect(broken.said).toContain('is damaged');
    expect(broken.said).toContain('npx claw repair');
    expect(broken.said).not.toContain('Starting it again');
    // What a commit may have written meanwhile does not touch what was damaged.
    const startsOnce = starts(tree) - startsBefore;
    expect(startsOnce, `${table}: ${broken.said}`).toBe(1);
    // A service manager starts it again: it says so at once, and writes nothing.
    const again = await converse(tree, '/groups\n');
    expect(again).toMatchObject({ exitCode: 1, said: expect.stringContaining('is damaged') });

    const damaged = readFileSync(path);
    if (table === null) expect(damaged.equals(before)).toBe(true);
    const doctor = claw(tree, 'doctor', '--offline');
    expect(doctor.said).toContain('npx claw repair');
    const repaired = claw(tree, 'repair');
    expect(repaired, table ?? 'header').toMatchObject({
      status: 0,
      said: expect.stringContaining('Repaired'),
    });
    const aside = readdirSync(tree.dataDir).filter((name) => /damaged-\d+-\d+(-\d+)?$/.test(name));
    expect(aside.some((name) => readFileSync(join(tree.dataDir, name)).equals(damaged))).toBe(true);
    const fine = await converse(tree, '/groups\n');
    expect(fine, table ?? 'header').toMatchObject({
      exitCode: 0,
      said: expect.stringContaining('Registered:'),
    });
  }
});

test('a database that is lost or empty next to traces of an older one is no first start', async () => {
  using tree = new TestTree();
  const path = join(tree.dataDir, 'claw.db');
  await converse(tree, '/groups\n');
  expect(existsSync(join(tree.dir, 'groups/main'))).toBe(true);
  renameSync(path, join(tree.dir, 'kept.db'));
  const missing = await converse(tree, '/groups\n');
  expect(missing.exitCode).toBe(1);
  expect(missing.said).toContain('is missing, but an assistant has worked here before: groups/');
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, '');
  const empty = await converse(tree, '/groups\n');
  expect(empty).toMatchObject({ exitCode: 1, said: expect.stringContaining('is empty, but') });
  expect(readFileSync(path)).toHaveLength(0);
  expect(claw(tree, 'doctor', '--offline').said).toContain('is empty, but');
  expect(claw(tree, 'repair')).toMatchObject({ said: expect.stringContaining('--empty') });
  // The old one put back is all it takes.
  rmSync(path);
  renameSync(join(tree.dir, 'kept.db'), path);
  expect(await converse(tree, '/groups\n')).toMatchObject({ exitCode: 0 });
  rmSync(path);
  expect(claw(tree, 'repair', '--empty')).toMatchObject({
    status: 0,
    said: expect.stringContaining('is new and empty'),
  });
  expect(await converse(tree, '/groups\n')).toMatchObject({ exitCode: 0 });
});

test('a repair refuses while the assistant runs', async () => {
  using tree = new TestTree();
  await using conversation = TestConversation.start(tree);
  await conversation.sees('I am Andy');
  const refused = claw(tree, 'repair');
  expect(refused.status).not.toBe(0);
  expect(refused.said).toContain('Stop it first');
});
