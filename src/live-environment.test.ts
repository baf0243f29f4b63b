import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLiveEnvironment } from './live-environment.ts';

test('a key that is changed in .env counts at once; what the environment itself says goes before it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-live-'));
  const env = join(dir, '.env');
  writeFileSync(env, 'KEY=one\nOUTSIDE=of-the-file\n');
  const read = openLiveEnvironment({ KEY: 'one', OUTSIDE: 'mine' }, dir);
  expect(read()).toEqual({ KEY: 'one', OUTSIDE: 'mine' });
  writeFileSync(env, 'KEY=another\nOUTSIDE=changed\nNEW=yes\n');
  expect(read()).toEqual({ KEY: 'another', OUTSIDE: 'mine', NEW: 'yes' });
  rmSync(env);
  expect(read()).toEqual({ OUTSIDE: 'mine' });
  rmSync(dir, { recursive: true });
});
