import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { type Codebase, temporaryCodebase } from '../../../../src/testing/claw/codebase.ts';
import { readBlobs, runGitInFiles } from './git.ts';

/** More than a pipe or a socket holds. */
const LONG = 'a line of it\n'.repeat(100_000);

async function withTemporary<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

function blobOf(codebase: Codebase, path: string) {
  return { oid: codebase.git('rev-parse', `HEAD:${path}`).trim(), path };
}

test('git reads and prints more than a pipe holds while this process does not look, and leaves no files', async () => {
  await using codebase = temporaryCodebase({ 'long.txt': LONG, 'tmp/.keep': '' }, { git: true });
  const { oid } = blobOf(codebase, 'long.txt');
  await withTemporary(codebase.path('tmp'), async () => {
    const input = `${oid}\n`.repeat(5000);
    const running = runGitInFiles(codebase.root, ['cat-file', '--batch-check'], input);
    expect(readdirSync(tmpdir())).toEqual(['.keep']);
    const printed = (await running)?.toString('utf8').trim().split('\n') ?? [];
    expect(printed).toHaveLength(5000);
    expect(new Set(printed)).toEqual(new Set([`${oid} blob ${LONG.length}`]));
    expect(readdirSync(tmpdir())).toEqual(['.keep']);
  });
});

test('git that fails gives nothing, and so does a folder for temporary files that is not there', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  expect(await runGitInFiles(codebase.root, ['no-such-verb'], '')).toBeNull();
  await withTemporary(codebase.path('gone'), async () => {
    expect(await runGitInFiles(codebase.root, ['version'], '')).toBeNull();
  });
});

test('blobs are read through pipes where no temporary files can be made', async () => {
  await using codebase = temporaryCodebase({ 'long.txt': LONG, 'b.txt': '' }, { git: true });
  const blobs = [blobOf(codebase, 'long.txt'), blobOf(codebase, 'b.txt')];
  await withTemporary(codebase.path('gone'), async () => {
    const read = await readBlobs(codebase.root, blobs);
    expect(read.map((bytes) => bytes.toString('utf8'))).toEqual([LONG, '']);
    expect(existsSync(tmpdir())).toBe(false);
  });
});

test('a content that git has lost is named, and not the files beside it', async () => {
  const files = { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'three\n', 'd.txt': 'four\n' };
  await using codebase = temporaryCodebase(files, { git: true });
  const blobs = Object.keys(files).map((path) => blobOf(codebase, path));
  const lose = (at: number) => {
    const oid = blobs[at]?.oid ?? '';
    rmSync(codebase.path(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`));
  };
  lose(1);
  await expect(readBlobs(codebase.root, blobs)).rejects.toThrow('lost the content of b.txt. Run');
  lose(3);
  await expect(readBlobs(codebase.root, blobs)).rejects.toThrow('b.txt and 1 more of its files.');
});

test('for a partial clone, the message says how git fetches the rest', async () => {
  await using origin = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  origin.git('config', 'uploadpack.allowFilter', 'true');
  await using clone = temporaryCodebase({});
  const partial = ['clone', '--quiet', '--no-checkout', '--filter=blob:none'];
  clone.git(...partial, `file://${origin.root}`, 'partial');
  const root = clone.path('partial');
  const blobs = [blobOf(origin, 'a.txt')];
  await expect(readBlobs(root, blobs)).rejects.toThrow('git fetch --refetch --no-filter');
  clone.git('-C', 'partial', 'fetch', '--quiet', '--refetch', '--no-filter');
  expect((await readBlobs(root, blobs)).toString()).toBe('one\n');
});
