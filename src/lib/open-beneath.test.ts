import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTextBeneath, readUpTo } from './open-beneath.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-beneath-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a text is read whole up to its limit, and what is not a file, or leads elsewhere, is not', async () => {
  const read = (name: string) =>
    readTextBeneath(dir, name.split('/'), 200_000).catch((error) => error.code);
  const text = 'é'.repeat(100_000);
  writeFileSync(join(dir, 'whole.md'), text);
  writeFileSync(join(dir, 'long.md'), `${text}!`);
  writeFileSync(join(dir, 'empty.md'), '');
  mkdirSync(join(dir, 'folder'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  symlinkSync('/etc/passwd', join(dir, 'link'));
  symlinkSync('/etc', join(dir, 'way'));
  expect(await read('whole.md')).toBe(text);
  expect(await read('empty.md')).toBe('');
  for (const name of ['long.md', 'folder', 'pipe']) expect(await read(name)).toBeNull();
  expect(await read('link')).toBe('ELOOP');
  expect(['ELOOP', 'ENOTDIR']).toContain(await read('way/passwd'));
  expect(await read('none')).toBe('ENOENT');
});

test('a file that grows while it is read is given up at the limit', async () => {
  const path = join(dir, 'growing.md');
  writeFileSync(path, '');
  const file = await open(path, 'r+');
  let reads = 0;
  const growing: Parameters<typeof readUpTo>[0] = {
    async read(...given: readonly unknown[]) {
      reads += 1;
      await file.appendFile('x'.repeat(100_000));
      return await (file.read as (...all: readonly unknown[]) => Promise<never>)(...given);
    },
  };
  expect(await readUpTo(growing, 1_000_000)).toBeNull();
  expect(reads).toBeLessThan(20);
  await file.close();
});
