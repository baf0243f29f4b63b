import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { discoverEngines, engineSetting } from '../../../src/sandbox/engines/engine.ts';
import { findersOf } from '../../../src/sandbox/open.ts';

const LIMITS = { memoryBytes: 1, processes: 1, cpus: 1 };

test('the program starts agents, and tells them by what address and token they reach the host', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-launcher-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const program = join(dir, 'start.sh');
  const script = `#!/bin/sh\necho "$CLAW_HOST $CLAW_PORT $CLAW_TOKEN $1" > ${dir}/got\nexit 7\n`;
  writeFileSync(program, script, { mode: 0o755 });
  const engines = await discoverEngines();
  expect(engineSetting(engines).safeParse({ CLAW_SANDBOX: 'launcher' }).success).toBe(true);
  const settings = { ...readSettings({}, dir), sandbox: 'launcher' };
  const environment = { SANDBOX_LAUNCHER: program };
  const [finder] = findersOf(engines, { projectDir: dir, homeDir: dir, settings, environment });
  const engine = await finder?.find().open();
  expect(engine?.transport).toMatchObject({ kind: 'tcp' });
  const endpoint = { kind: 'tcp', host: '127.0.0.1', port: 4711, token: 't0' } as const;
  const spec = { folder: 'family', mounts: [], limits: LIMITS, endpoint };
  const container = await engine?.startContainer(spec);
  expect(await container?.ended).toBe('exit code 7');
  expect(readFileSync(join(dir, 'got'), 'utf8')).toMatch(
    /^127\.0\.0\.1 4711 t0 \{"folder":"family"/,
  );
});

test('where it is not set, the next engine is tried', async () => {
  const settings = { ...readSettings({}, '/nowhere'), sandbox: 'launcher' };
  const parts = { projectDir: '/nowhere', homeDir: '/nowhere', settings, environment: {} };
  const [finder] = findersOf(await discoverEngines(), parts);
  await expect(finder?.find().open()).rejects.toThrow('SANDBOX_LAUNCHER is not set.');
});
