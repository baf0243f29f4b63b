import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestTree } from '../digest.ts';
import type { Release } from '../installed/release.ts';
import { temporaryProject, treeFile } from '../proof/testing/project.ts';
import { withEarlyBase } from './early-base.ts';

const NAMES = Array.from({ length: 100 }, (_, at) => `src/${at}.js`);

function release(): Release {
  const files = new Map(NAMES.map((name) => [name, treeFile(name)]));
  const digests = digestTree(files);
  const rest = { version: '1.0.0', commit: null, from: 'disk', warnings: [] } as const;
  return { ...rest, files, digests, extras: new Map() };
}

test('a release is there once it was brought, for its own command and for no other', async () => {
  using project = temporaryProject({});
  const brought = release();
  const step = await withEarlyBase(project.root, undefined, async ({ bring, stepOf }) => {
    expect(stepOf(brought)).toBeNull();
    await bring(brought);
    const [name = ''] = fs.readdirSync(join(project.root, '.claw/cache'));
    expect(fs.readdirSync(join(project.root, '.claw/cache', name, 'src'))).toHaveLength(100);
    expect(stepOf(release())).toBeNull();
    return await stepOf(brought);
  });
  expect(step).toMatchObject({ kind: 'swap', path: '.claw/base' });
});

test('a command that fails, or does not use it, leaves nothing of it', async () => {
  using project = temporaryProject({});
  const refused = withEarlyBase(project.root, undefined, async ({ bring }) => {
    void bring(release());
    throw new RangeError('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(fs.readdirSync(join(project.root, '.claw/cache'))).toEqual([]);
  await withEarlyBase(project.root, undefined, ({ bring }) => bring(release()));
  expect(fs.readdirSync(join(project.root, '.claw/cache'))).toEqual([]);
});

test('a disk that refuses it, and an interruption, stop the command where it needs the release', async () => {
  using project = temporaryProject({});
  fs.mkdirSync(join(project.root, '.claw'), { recursive: true });
  fs.writeFileSync(join(project.root, '.claw/cache'), 'no folder');
  const ending = new AbortController();
  const stepAfter = (end: () => void) =>
    withEarlyBase(project.root, ending.signal, async ({ bring, stepOf }) => {
      end();
      const brought = release();
      await bring(brought);
      await expect(stepOf(brought)).rejects.toMatchObject({
        code: expect.stringMatching(/^(ENOTDIR|EEXIST|INTERRUPTED)$/),
      });
    });
  await stepAfter(() => {});
  fs.rmSync(join(project.root, '.claw/cache'));
  await stepAfter(() => ending.abort());
});
