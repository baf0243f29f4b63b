import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { mergeText } from '@patchclaw/merge';
import { expect, test } from 'vitest';
import { digestOf, type Tree, type TreeEntry, TreePath } from './file-tree.ts';
import { type MergedFile, mergeFile, pathBeside, planSync } from './merge-files.ts';

function tree(files: Readonly<Record<string, string>>): Tree {
  return new Map(
    Object.entries(files).map(([path, text]): [string, TreeEntry] => [
      path,
      { kind: 'file', digest: digestOf(Buffer.from(text)), isExecutable: false },
    ]),
  );
}

const plan = (base: object, home: object, far: object) =>
  planSync(tree({ ...base }), tree({ ...home }), tree({ ...far })).map(({ kind, path, ...rest }) =>
    'isKept' in rest && rest.isKept ? `${kind} ${path}, kept` : `${kind} ${path}`,
  );

test('golden: who wrote what, and where it goes', () => {
  const base = {
    same: '1',
    here: '1',
    there: '1',
    both: '1',
    alike: '1',
    gone: '1',
    goneThere: '1',
  };
  const home = {
    same: '1',
    here: '2',
    there: '1',
    both: '2',
    alike: '2',
    goneThere: '1',
    new: '1',
  };
  const far = { same: '1', here: '1', there: '2', both: '3', alike: '2', gone: '1', fresh: '1' };
  expect(plan(base, home, far)).toEqual([
    'merge both',
    'take fresh',
    'send gone',
    'take goneThere',
    'send here',
    'send new',
    'take there',
  ]);
});

test('a change is never lost to a deletion on the other side', () => {
  expect(plan({ a: '1', b: '1' }, { a: '2' }, { b: '2' })).toEqual([
    'send a, kept',
    'take b, kept',
  ]);
});

test('both sides added a file of that name: it is merged, from nothing', () => {
  expect(plan({}, { a: '1' }, { a: '2' })).toEqual(['merge a']);
});

test('edits of different lines come together; the same line is a conflict with both versions shown', async () => {
  const base = Buffer.from('milk\nbread\neggs\nrice\ntea\n');
  const home = Buffer.from('milk\nbread\neggs\nrice\ngreen tea\n');
  const far = Buffer.from('oat milk\nbread\neggs\nrice\ntea\n');
  expect(await mergeFile('list.txt', base, { home, far })).toEqual({
    kind: 'merged',
    bytes: Buffer.from('oat milk\nbread\neggs\nrice\ngreen tea\n'),
  });
  const other = Buffer.from('milk\nbread\neggs\nrice\nblack tea\n');
  const conflict = await mergeFile('list.txt', base, { home, far: other });
  expect(conflict).toMatchObject({ kind: 'conflict' });
  expect(conflict.kind === 'conflict' && conflict.shown).toMatch(/green tea[\s\S]*black tea/);
});

test('what is not text is never merged', async () => {
  const binary = (byte: number) => Buffer.from([0, byte]);
  expect(await mergeFile('a.png', binary(1), { home: binary(2), far: binary(3) })).toEqual({
    kind: 'conflict',
    shown: null,
  });
});

test('two versions with thousands of conflicts are merged elsewhere: the loop here is as free as an idle one', async () => {
  const lines = (word: string) =>
    Array.from({ length: 8_000 }, (_, index) =>
      index % 2 === 0 ? `${word} ${index}` : `${index}`,
    );
  const [base, ours, theirs] = ['one', 'two', 'three'].map((word) => lines(word).join('\n'));
  if (base === undefined || ours === undefined || theirs === undefined) throw new Error('no text');
  const began = performance.now();
  expect(mergeText({ base, ours, theirs }, { path: 'log.txt' }).conflicts).toBe(4_000);
  const hereMs = performance.now() - began;

  const idleMs = await longestDelay(sleep(hereMs));
  let merged: MergedFile | null = null;
  const mergingMs = await longestDelay(
    mergeFile('log.txt', Buffer.from(base), {
      home: Buffer.from(ours),
      far: Buffer.from(theirs),
    }).then((file) => {
      merged = file;
    }),
  );
  expect(merged).toMatchObject({ kind: 'conflict', shown: expect.stringContaining('two 0') });
  // In this thread it would be all of it. What else the machine does delays both.
  expect(mergingMs - idleMs).toBeLessThan(hereMs / 2);
});

async function longestDelay(work: Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await work;
  delay.disable();
  return delay.max / 1e6;
}

test('the other version gets a name of its own beside', () => {
  expect(pathBeside('notes/plan.md', 'nas', () => false)).toBe('notes/plan.from-nas.md');
  expect(pathBeside('.env', 'nas', () => false)).toBe('.env.from-nas');
  expect(pathBeside('a.md', 'nas', (path) => path === 'a.from-nas.md')).toBe('a.from-nas-2.md');
});

test('a path of another machine stays inside', () => {
  for (const path of ['../a', 'a/../../b', '/etc/passwd', 'a//b', './a', 'a\0b', 'a/']) {
    expect(TreePath.safeParse(path).success, path).toBe(false);
  }
  expect(TreePath.safeParse('a/..b/.c').success).toBe(true);
});
