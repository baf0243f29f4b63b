import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const FOREVER = `require('node:test').test('x', () => new Promise((r) => setTimeout(r, 600_000)));`;

function codebaseWithSlowTest(): Codebase {
  const codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'slow', { add: { 'b.txt': 'b\n' }, tests: { 'slow.test.js': FOREVER } });
  addSkill(codebase, 'other', { add: { 'c.txt': 'c\n' } });
  return codebase;
}

/** Loaded first, it makes this Node one that claw hands over from. */
const OLDER_NODE =
  "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})";

/** An apply that is in the middle of its tests. */
async function running(codebase: Codebase, nodeOptions: readonly string[] = []) {
  const args = [...nodeOptions, CLAW, 'apply', 'slow', '--json', '--cwd', codebase.root];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  await vi.waitFor(() => expect(stderr).toContain('test: slow'));
  return { child, ended, stdout: () => stdout };
}

test('a running command is named by status and by whoever waits for it in vain', async () => {
  await using codebase = codebaseWithSlowTest();
  const { child, ended } = await running(codebase);
  const named = expect.stringContaining(`claw apply (pid ${child.pid})`);
  const status = await codebase.claw('status');
  expect(status).toMatchObject({ code: 0, json: { warnings: [named] } });
  const started = performance.now();
  const other = await codebase.claw('apply', 'other');
  expect(performance.now() - started).toBeGreaterThan(1900);
  expect(other).toMatchObject({
    code: 5,
    json: { outcome: 'locked', error: { code: 'LOCK_HELD' } },
  });
  expect(other.json.error?.message).toContain(`claw apply, pid ${child.pid}`);
  child.kill('SIGKILL');
  await ended;
  expect((await codebase.claw('apply', 'other')).code).toBe(0);
  expect(codebase.tree()).not.toHaveProperty('b.txt');
  const views = readdirSync(codebase.path('.claw/tx')).filter((name) => name.startsWith('view-'));
  expect(views).toEqual([]);
});

for (const [signal, code, node] of [
  ['SIGINT', 130, 'this Node'],
  ['SIGTERM', 143, 'this Node'],
  ['SIGINT', 130, 'an older Node'],
  ['SIGTERM', 143, 'an older Node'],
  ['SIGHUP', 129, 'an older Node'],
] as const) {
  test(`${signal} to ${node} during the tests leaves nothing behind`, async () => {
    await using codebase = codebaseWithSlowTest();
    const before = codebase.tree();
    const options = node === 'this Node' ? [] : ['--import', OLDER_NODE];
    const { child, ended, stdout } = await running(codebase, options);
    child.kill(signal);
    expect(await ended).toBe(code);
    expect(JSON.parse(stdout())).toMatchObject({ ok: false, error: { code: 'INTERRUPTED' } });
    expect(codebase.tree()).toEqual(before);
    expect(codebase.has('.claw')).toBe(false);
  });
}

test('tests that fail run once where only one skill has any', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const fails = `require('node:test').test('x', () => { throw new Error('no'); });`;
  addSkill(codebase, 'bad', { add: { 'b.txt': 'b\n' }, tests: { 'bad.test.js': fails } });
  const run = await codebase.claw('apply', 'bad');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(run.stderr.match(/^test: bad/gm)).toHaveLength(1);
});
