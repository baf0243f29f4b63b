import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readCache, writeCache } from './cache-file.ts';

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) fs.rmSync(root, { recursive: true });
});

function project(): string {
  const root = fs.mkdtempSync(join(tmpdir(), 'claw-sealed-'));
  fs.mkdirSync(join(root, '.claw'));
  roots.push(root);
  return root;
}

test('a kept entry is found again', () => {
  const root = project();
  writeCache(root, 'one', { a: [1, 'two'] });
  expect(readCache(root, 'one')).toEqual({ a: [1, 'two'] });
  expect(readCache(root, 'other')).toBeNull();
});

test('a changed, cut or renamed cache counts for nothing', () => {
  const root = project();
  const path = join(root, '.claw/cache/one.json');
  writeCache(root, 'one', { a: 'right' });
  const text = fs.readFileSync(path, 'utf8');
  for (const damaged of [text.replace('right', 'wrong'), text.slice(0, -1), '', '\n', '{}']) {
    fs.writeFileSync(path, damaged);
    expect(readCache(root, 'one')).toBeNull();
  }
  fs.writeFileSync(join(root, '.claw/cache/other.json'), text);
  expect(readCache(root, 'other')).toBeNull();
});

test('a cache that came along with a copy counts for nothing', () => {
  const [from, to] = [project(), project()];
  writeCache(from, 'one', { a: 'forged' });
  fs.cpSync(join(from, '.claw/cache'), join(to, '.claw/cache'), { recursive: true });
  expect(readCache(to, 'one')).toBeNull();
});

test('if the engine has no folder, nothing is kept', () => {
  const root = project();
  fs.rmdirSync(join(root, '.claw'));
  writeCache(root, 'one', 1);
  expect(fs.existsSync(join(root, '.claw'))).toBe(false);
});
