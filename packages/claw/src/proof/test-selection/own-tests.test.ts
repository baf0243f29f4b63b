import { expect, test } from 'vitest';
import { isSameButForPackages } from './own-tests.ts';

const MANIFEST = { type: 'module', dependencies: { zod: '4.0.0' } };
const LOCK = {
  lockfileVersion: 3,
  packages: { '': MANIFEST, 'node_modules/zod': { version: '4.0.0' } },
};

const isSame = (path: string, before: unknown, after: unknown) =>
  isSameButForPackages(path, JSON.stringify(before), JSON.stringify(after));

test('packages that come or go, in package.json and in the lock', () => {
  const more = { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, grammy: '1' } };
  expect(isSame('package.json', MANIFEST, more)).toBe(true);
  expect(isSame('app/package.json', more, MANIFEST)).toBe(true);
  const locked = {
    ...LOCK,
    packages: { ...LOCK.packages, '': more, 'node_modules/grammy': { version: '1' } },
  };
  expect(isSame('package-lock.json', LOCK, locked)).toBe(true);
  expect(isSame('package-lock.json', locked, LOCK)).toBe(true);
  const first = { type: 'module', devDependencies: { grammy: '1' } };
  expect(isSame('package.json', { type: 'module' }, first)).toBe(true);
});

test.each([
  ['another version', 'package.json', MANIFEST, { ...MANIFEST, dependencies: { zod: '4.1.0' } }],
  ['another kind of module', 'package.json', MANIFEST, { ...MANIFEST, type: 'commonjs' }],
  ['a new import map', 'package.json', MANIFEST, { ...MANIFEST, imports: { '#a': './a.js' } }],
  [
    'another locked version',
    'package-lock.json',
    LOCK,
    { ...LOCK, packages: { ...LOCK.packages, 'node_modules/zod': { version: '4.1.0' } } },
  ],
  ['a lock without packages', 'package-lock.json', LOCK, { lockfileVersion: 1 }],
  ['data of another name', 'data.json', MANIFEST, MANIFEST],
  ['no object', 'package.json', MANIFEST, [MANIFEST]],
])('%s is a change', (_, path, before, after) => {
  expect(isSame(path, before, after)).toBe(false);
});

test('a file that is not JSON counts as changed', () => {
  expect(isSameButForPackages('package.json', '{}', '{')).toBe(false);
});
