import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryCodebase } from '../../../../../src/testing/claw/codebase.ts';
import { localPackages } from './local-packages.ts';

test('a package in the project is seen, one behind a link to somewhere else is not', async () => {
  await using outside = temporaryCodebase({ 'sub/package.json': '{}', 'sub/secret.txt': 'mine' });
  await using codebase = temporaryCodebase({
    'package.json': JSON.stringify({
      dependencies: { near: 'file:vendor/near', far: 'file:away/sub', direct: 'file:away' },
      workspaces: ['away/*'],
    }),
    'vendor/near/package.json': '{}',
  });
  fs.symlinkSync(outside.root, codebase.path('away'));
  const read = (path: string) => {
    const file = join(codebase.root, path);
    return fs.existsSync(file) ? fs.readFileSync(file) : null;
  };
  const found = localPackages(codebase.root, read);
  expect(found.paths).toEqual(['vendor/near/package.json']);
  expect(found.has('away/sub/secret.txt')).toBe(false);
});
