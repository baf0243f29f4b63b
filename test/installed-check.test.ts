import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryCodebase } from '../src/testing/claw/codebase.ts';

const HOME = join(import.meta.dirname, '..');

test('the format check stays well in an installation, whose .claw holds a second biome.json', async () => {
  const config = readFileSync(join(HOME, 'biome.json'), 'utf8');
  await using codebase = temporaryCodebase(
    { 'biome.json': config, '.gitignore': '' },
    { git: true },
  );
  codebase.write({ '.claw/base/biome.json': config, '.claw/base/a.ts': 'var  a' });
  const check = () => {
    const biome = join(HOME, 'node_modules/.bin/biome');
    return spawnSync(biome, ['check', '.'], { cwd: codebase.root, encoding: 'utf8' });
  };
  expect(check()).toMatchObject({ status: 0 });
  codebase.write({ 'a.ts': 'var  a' });
  expect(check()).toMatchObject({ status: 1 });
});
