import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderBytes } from './size.ts';

test('files that an agent has hidden deeper than any path can name do not hide the rest', () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-size-'));
  onTestFinished(() => void execFileSync('rm', ['-rf', dir]));
  mkdirSync(join(dir, 'sessions'));
  writeFileSync(join(dir, 'claw.db'), 'x'.repeat(100));
  const name = 'd'.repeat(100);
  const deeper = `for i in $(seq 45); do touch ${'f'.repeat(200)} && mkdir ${name} && cd ${name} || exit 1; done`;
  execFileSync('bash', ['-c', deeper], { cwd: join(dir, 'sessions') });
  expect(folderBytes(dir)).toBe(100);
});
