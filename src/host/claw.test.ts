import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clawRunner } from './claw.ts';

test('the model’s key reaches the command that asks the model, and no other', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-runner-'));
  const clawPath = join(projectDir, 'claw.js');
  writeFileSync(
    clawPath,
    'console.log(JSON.stringify({ ok: true, data: process.env.ANTHROPIC_API_KEY ?? null }));\n',
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
