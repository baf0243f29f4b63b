import { expect, test } from 'vitest';
import { commitAll, temporaryCodebase } from '../../../../src/testing/claw/codebase.ts';
import { readConfig } from './config.ts';
import {
  createTreesReader,
  NO_REQUEST,
  readAhead,
  readReleaseVersion,
  takeRelease,
} from './release.ts';

const text = (version: string) => `{"version":"${version}"}\n`;

test('the release is that of the moment when it is taken, whatever was read ahead', async () => {
  await using codebase = temporaryCodebase({ 'package.json': text('1.0.0') }, { git: true });
  const { root } = codebase;
  const config = readConfig(root);
  const readTrees = createTreesReader();
  readAhead(root, config, readTrees);
  expect(await takeRelease(root, config, NO_REQUEST, readTrees)).toMatchObject({
    version: '1.0.0',
  });
  codebase.write({ 'package.json': text('2.0.0') });
  commitAll(codebase, 'second');
  codebase.git('tag', 'v2.0.0');
  expect(await takeRelease(root, config, NO_REQUEST, readTrees)).toMatchObject({
    version: '2.0.0',
  });
  expect(await readReleaseVersion(root, config)).toBe('2.0.0');
});

test('a commit is read once for a command, but for each set of rules by which files belong to the core', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'a\n', 'b.ts': 'b\n' }, { git: true });
  const { root } = codebase;
  const config = readConfig(root);
  const commit = codebase.git('rev-parse', 'HEAD').trim();
  const readTrees = createTreesReader();
  const first = await readTrees(root, config, commit);
  expect(await readTrees(root, readConfig(root), commit)).toBe(first);
  const fewer = await readTrees(root, { ...config, exclude: ['b.ts'] }, commit);
  expect([...first.files.keys()]).toEqual(['a.ts', 'b.ts']);
  expect([...fewer.files.keys()]).toEqual(['a.ts']);
});

test('reading ahead where there is no commit, or no git, is no fault', async () => {
  for (const git of [true, false]) {
    await using codebase = temporaryCodebase({ 'a.ts': 'a\n' }, { git });
    const { root } = codebase;
    if (git) codebase.git('update-ref', '-d', 'HEAD');
    const config = readConfig(root);
    const readTrees = createTreesReader();
    readAhead(root, config, readTrees);
    expect((await takeRelease(root, config, NO_REQUEST, readTrees)).from).toBe('disk');
  }
});
