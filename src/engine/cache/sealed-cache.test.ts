import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readSealed, writeSealed } from './sealed-cache.ts';

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

test('what was kept is found again', () => {
  const root = project();
  writeSealed(root, 'one', { a: [1, 'two'] });
  expect(readSealed(root, 'one')).toEqual({ a: [1, 'two'] });
  expect(readSealed(root, 'other')).toBeNull();
});

test('a changed, cut or renamed cache counts for nothing', () => {
  const root = project();
  const path = join(root, '.claw/cache/one.json');
  writeSealed(root, 'one', { a: 'right' });
  const text = fs.readFileSync(path, 'utf8');
  for (const damaged of [text.replace('right', 'wrong'), text.slice(0, -1), '', '\n', '{}']) {
    fs.writeFileSync(path, damaged);
    expect(readSealed(root, 'one')).toBeNull();
  }
  fs.writeFileSync(join(root, '.claw/cache/other.json'), text);
  expect(readSealed(root, 'other')).toBeNull();
});

test('a cache that came along with a copy counts for nothing', () => {
  const [from, to] = [project(), project()];
  writeSealed(from, 'one', { a: 'forged' });
  fs.cpSync(join(from, '.claw/cache'), join(to, '.claw/cache'), { recursive: true });
  expect(readSealed(to, 'one')).toBeNull();
});

test('where the engine has no folder, nothing is kept', () => {
  const root = project();
  fs.rmdirSync(join(root, '.claw'));
  writeSealed(root, 'one', 1);
  expect(fs.existsSync(join(root, '.claw'))).toBe(false);
});
