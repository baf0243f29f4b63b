import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeTree } from './group-folder.ts';

let dir: string;
let doomed: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-remove-'));
  doomed = join(dir, 'family');
  mkdirSync(doomed);
  writeFileSync(join(dir, 'precious.txt'), 'stays');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('folders deeper than any path can name go, and what links lead to stays', async () => {
  const name = 'd'.repeat(200);
  const deeper = `for i in $(seq 30); do mkdir ${name} && cd ${name} || exit 1; done; ln -s ${dir} up`;
  execFileSync('bash', ['-c', deeper], { cwd: doomed });
  symlinkSync(dir, join(doomed, 'up'));
  await removeTree(doomed);
  expect(existsSync(doomed)).toBe(false);
  expect(existsSync(join(dir, 'precious.txt'))).toBe(true);
});

test('folders that were closed go, and what cannot be opened: pipes', async () => {
  const closed = join(doomed, 'closed');
  mkdirSync(join(closed, 'inner'), { recursive: true });
  execFileSync('mkfifo', [join(closed, 'pipe')]);
  chmodSync(join(closed, 'inner'), 0);
  chmodSync(closed, 0);
  await removeTree(doomed);
  expect(existsSync(doomed)).toBe(false);
});

test('what is not there is no trouble', async () => {
  await removeTree(join(dir, 'nobody'));
});
