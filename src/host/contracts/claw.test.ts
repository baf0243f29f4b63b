import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { skillFiles, temporaryCodebase } from '../../testing/claw/codebase.ts';
import { type ClawProgress, clawReader, clawRunner } from './claw.ts';

/** A result as `claw --json` prints it. */
const DONE = JSON.stringify({
  ok: true,
  verb: 'status',
  outcome: 'done',
  data: null,
  changes: [],
  conflicts: [],
  warnings: [],
  error: null,
});

test('the model’s key reaches the command that asks the model, and no other', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-runner-'));
  const clawPath = join(projectDir, 'claw.js');
  writeFileSync(
    clawPath,
    `console.log(JSON.stringify({ ...${DONE}, data: process.env.ANTHROPIC_API_KEY ?? null }));\n`,
  );
  const claw = clawRunner({
    nodePath: process.execPath,
    clawPath,
    projectDir,
    environment: {},
    modelKey: { ANTHROPIC_API_KEY: 'sk-secret' },
  });
  expect(await claw(['resolve', '--agent'])).toMatchObject({ ok: true, data: 'sk-secret' });
  for (const args of [['apply', 'telegram', '--yes'], ['continue', '--prove'], ['status']]) {
    expect(await claw(args)).toMatchObject({ ok: true, data: null });
  }
  rmSync(projectDir, { recursive: true });
});

test('a command that is stopped is interrupted, and its own word on that is the result', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-runner-'));
  const clawPath = join(projectDir, 'claw.js');
  writeFileSync(
    clawPath,
    `process.on('SIGINT', () => {
      const error = { code: 'INTERRUPTED', message: '', path: null, data: {} };
      console.log(JSON.stringify({ ...${DONE}, ok: false, outcome: 'failed', error }));
      process.exit(130);
    });
    setInterval(() => {}, 1000);
    console.error('waits');\n`,
  );
  const nodePath = process.execPath;
  const claw = clawRunner({ nodePath, clawPath, projectDir, environment: {}, modelKey: {} });
  const stopping = new AbortController();
  const result = await claw(['setup'], () => stopping.abort(), stopping.signal);
  expect(result).toMatchObject({ exitCode: 130, error: { code: 'INTERRUPTED' } });
  rmSync(projectDir, { recursive: true });
});

test('how a command goes on is told as it prints it, and a line of another program is a note', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-runner-'));
  const clawPath = join(projectDir, 'claw.js');
  const printed: readonly ClawProgress[] = [
    { kind: 'step', text: 'Composing' },
    { kind: 'started', text: 'test: dice' },
    { kind: 'output', text: 'test: dice', output: 'ok 1\n' },
    { kind: 'ended', text: 'test: dice', outcome: 'failed' },
  ];
  const lines = [...printed.map((one) => JSON.stringify(one)), '(node:7) Warning: old'];
  writeFileSync(
    clawPath,
    `console.error(${JSON.stringify(lines.join('\n'))});\nprocess.exit(9);\n`,
  );
  const nodePath = process.execPath;
  const claw = clawRunner({ nodePath, clawPath, projectDir, environment: {}, modelKey: {} });
  const told: ClawProgress[] = [];
  const result = await claw(['apply', 'dice'], (progress) => told.push(progress));
  expect(told).toEqual([...printed, { kind: 'note', text: '(node:7) Warning: old' }]);
  expect(result.error?.message).toContain('with code 9 and no result. (node:7) Warning: old');
  rmSync(projectDir, { recursive: true });
});

test('a single process answers all requests to the engine, in order, and is started again after it ended', async () => {
  await using codebase = temporaryCodebase(
    { 'hello.mjs': "export const hello = 'Hello';\n", 'claw.config.yaml': 'check: []\n' },
    { git: true },
  );
  const add = { 'dice.mjs': 'export const sides = 6;\n' };
  const files = skillFiles('dice', { core: '0.0.0', add });
  codebase.write(
    Object.fromEntries(Object.entries(files).map(([p, t]) => [`skills/dice/${p}`, t])),
  );
  const nodePath = process.execPath;
  const readerPath = join(import.meta.dirname, '../../../bin/claw-reader.js');
  const environment = { PATH: process.env['PATH'], HOME: codebase.root };
  const projectDir = codebase.root;
  const reader = clawReader({ nodePath, readerPath, projectDir, environment, idleMs: 60_000 });
  const before = codebase.tree();
  const [plan, status, wrong] = await Promise.all([
    reader.read(['plan', 'apply', 'dice', '--diff', '--no-install']),
    reader.read(['status']),
    reader.read(['why', 'nowhere.mjs']),
  ]);
  expect(plan.error).toBeNull();
  expect(plan.changes).toMatchObject([{ path: 'dice.mjs', kind: 'add' }]);
  expect(JSON.stringify(plan.data)).toContain('+export const sides = 6;');
  expect(status).toMatchObject({ ok: true, data: { initialised: false } });
  expect(wrong).toMatchObject({ ok: false, exitCode: 1 });
  expect(codebase.tree()).toEqual(before);
  await expect(reader.read(['apply' as 'plan', 'dice'])).rejects.toThrow('does not only look');
  await expect(reader.read(['matrix'])).rejects.toThrow('does not only look');
  const [together] = await Promise.all([
    reader.read(['matrix', '--no-proof']),
    reader.read(['log']),
  ]);
  expect(together.data).toMatchObject({ skills: ['dice'], proved: false });
  expect(codebase.tree()).toEqual(before);

  // Killed in the middle of a question, it says so, and the next question starts another.
  const lost = reader.read(['plan', 'apply', 'dice']);
  reader.close();
  expect(await lost).toMatchObject({ ok: false, error: { code: 'NO_RESULT' } });
  expect(await reader.read(['list', '--available'])).toMatchObject({ ok: true });
  reader.close();
});

test('a question that already waits is shared, one that has begun is asked again, and the queue is limited', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-reader-'));
  const readerPath = join(projectDir, 'reader.mjs');
  const [began, go] = [join(projectDir, 'began'), join(projectDir, 'go')];
  writeFileSync(
    readerPath,
    `import { existsSync, writeFileSync } from 'node:fs';
    let count = 0;
    process.on('message', async ({ id }) => {
      count += 1;
      const data = count;
      writeFileSync(${JSON.stringify(began)}, '');
      while (!existsSync(${JSON.stringify(go)})) await new Promise((done) => setTimeout(done, 5));
      process.send({ id, exitCode: 0, stdout: JSON.stringify({ ...${DONE}, data }) });
    });
    process.on('disconnect', () => process.exit(0));\n`,
  );
  const nodePath = process.execPath;
  const reader = clawReader({ nodePath, readerPath, projectDir, environment: {}, idleMs: 60_000 });
  const first = reader.read(['status']);
  await vi.waitFor(() => expect(existsSync(began)).toBe(true));
  const later = [reader.read(['status']), reader.read(['status']), reader.read(['status'])];
  const others = Array.from({ length: 99 }, (_, at) => reader.read(['why', `${at}.ts`]));
  const tooMany = await reader.read(['why', 'one-more.ts']);
  expect(tooMany.error).toMatchObject({ code: 'BUSY' });
  // What waits already still costs nothing.
  later.push(reader.read(['status']));
  writeFileSync(go, '');
  expect((await first).data).toBe(1);
  expect((await Promise.all(later)).map(({ data }) => data)).toEqual([2, 2, 2, 2]);
  expect((await Promise.all(others)).map(({ data }) => data)).toEqual(
    others.map((_, at) => at + 3),
  );
  // The end of the assistant leaves nothing in the line.
  rmSync(go);
  rmSync(began);
  const lost = [reader.read(['status']), reader.read(['log'])];
  await vi.waitFor(() => expect(existsSync(began)).toBe(true));
  reader.close();
  for (const { error } of await Promise.all(lost))
    expect(error).toMatchObject({ code: 'NO_RESULT' });
  rmSync(projectDir, { recursive: true });
});
