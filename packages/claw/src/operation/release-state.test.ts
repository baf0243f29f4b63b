import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestTree } from '../digest.ts';
import type { Release } from '../installed/release.ts';
import { temporaryProject, treeFile } from '../proof/testing/project.ts';
import { prepareBase } from './release-state.ts';

const NAMES = Array.from({ length: 100 }, (_, at) => `src/${at}.js`);

function release(): Release {
  const files = new Map(NAMES.map((name) => [name, treeFile(name)]));
  const digests = digestTree(files);
  const rest = { version: '1.0.0', commit: null, from: 'disk', warnings: [] } as const;
  return { ...rest, files, digests, extras: new Map() };
}

test('a release is written beside its place while other work of the process goes on', async () => {
  using project = temporaryProject({});
  let seen = 0;
  const looking = setInterval(() => {
    const [prepared] = fs.readdirSync(join(project.root, '.claw/cache'));
    const place = join(project.root, '.claw/cache', prepared ?? '', 'src');
    if (fs.existsSync(place) && fs.readdirSync(place).length < NAMES.length) seen += 1;
  }, 0);
  const step = await prepareBase(project.root, release());
  clearInterval(looking);
  expect(seen).toBeGreaterThan(0);
  expect(step).toMatchObject({ kind: 'swap', path: '.claw/base' });
  const prepared = (step.kind === 'swap' && step.prepared) || '';
  expect(fs.readdirSync(join(project.root, prepared, 'src'))).toHaveLength(NAMES.length);
});

test('preparing the base ends when the command is interrupted', async () => {
  using project = temporaryProject({});
  const ending = new AbortController();
  const preparing = prepareBase(project.root, release(), { signal: ending.signal });
  ending.abort();
  await expect(preparing).rejects.toMatchObject({ code: 'INTERRUPTED' });
});
