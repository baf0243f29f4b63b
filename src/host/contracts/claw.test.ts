import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clawRunner } from './claw.ts';

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
