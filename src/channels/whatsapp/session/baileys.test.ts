import { Console } from 'node:console';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { silenceLibsignal } from './baileys.ts';

test('libsignal’s output is dropped, and that of others is not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-quiet-'));
  const file = join(folder, 'libsignal/src/session_record.cjs');
  mkdirSync(join(folder, 'libsignal/src'), { recursive: true });
  writeFileSync(
    file,
    'exports.close = (to) => { to.info("private key"); to.error("its stack"); };',
  );
  const { close } = createRequire(import.meta.url)(file) as { close: (to: Console) => void };
  const output = new PassThrough();
  const target = new Console(output);
  silenceLibsignal(target);
  silenceLibsignal(target);
  close(target);
  target.info('hello');
  target.error('oh');
  rmSync(folder, { recursive: true });
  expect(String(output.read())).toBe('hello\noh\n');
});
