import * as fs from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = Array.from({ length: 40 }, (_, at) => `const line${at} = ${at};\n`);
const TEXT = LINES.join('');

/** Three skills on one file, so that merges happen and are remembered. */
async function composed(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'src/a.ts': TEXT, 'src/b.ts': TEXT }, { git: true });
  for (const [name, at] of [
    ['one', 3],
    ['two', 15],
    ['three', 30],
  ] as const) {
    const changed = TEXT.replace(`= ${at};`, `= ${at}; // ${name}`);
    addSkill(codebase, name, {
      add: { [`src/${name}.ts`]: `export const ${name} = 1;\n` },
      modify: { 'src/a.ts': [TEXT, changed] },
    });
  }
  expect((await codebase.claw('apply', 'one', 'two', 'three')).code).toBe(0);
  for (const verb of ['replay', 'status']) expect((await codebase.claw(verb)).code).toBe(0);
  return codebase;
}

/** Other bytes of the same length, with the time of the old ones: only the inode's own time tells. */
function changeUnseen(codebase: Codebase, path: string, from: string, to: string): void {
  const { atime, mtime } = fs.statSync(codebase.path(path));
  const text = codebase.read(path).replace(from, to);
  fs.writeFileSync(codebase.path(path), text);
  fs.utimesSync(codebase.path(path), atime, mtime);
}

test('damaged caches cost time and nothing else', async () => {
  await using codebase = await composed();
  const before = codebase.tree();
  const names = fs.readdirSync(codebase.path('.claw/cache'));
  expect(names).toEqual(expect.arrayContaining(['state.json', 'manifests.json', 'merges.json']));
  for (const damage of [
    (text: string) => text.replaceAll('line', 'lime').replaceAll('"one"', '"two"'),
    (text: string) => text.slice(0, text.length / 2),
  ]) {
    for (const name of names) {
      const path = codebase.path(`.claw/cache/${name}`);
      fs.writeFileSync(path, damage(fs.readFileSync(path, 'utf8')));
    }
    expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
    expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
  }
  expect((await codebase.claw('remove', 'two')).code).toBe(0);
  expect((await codebase.claw('apply', 'two')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test('commands with and without caches give the same bytes', async () => {
  await using warm = await composed();
  await using cold = await composed();
  for (const args of [['remove', 'two'], ['apply', 'two'], ['remove', 'one'], ['replay']]) {
    fs.rmSync(cold.path('.claw/cache'), { recursive: true, force: true });
    for (const codebase of [warm, cold]) expect((await codebase.claw(...args)).code).toBe(0);
    expect(warm.tree()).toEqual(cold.tree());
    const { 'state.yaml': one, ...kept } = warm.state();
    const { 'state.yaml': other, ...keptCold } = cold.state();
    expect(kept).toEqual(keptCold);
    // Made at another time from another commit; all else is the same.
    const plain = (text = '') => text.replace(/^ +(installed|commit): .*$/gm, '');
    expect(plain(one)).toBe(plain(other));
  }
});

test('an edit of the same size and time is an edit', async () => {
  await using codebase = await composed();
  changeUnseen(codebase, 'src/b.ts', 'line7 ', 'lime7 ');
  const edits = [{ path: 'src/b.ts', kind: 'modify' }];
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits });
});

test('a kept core changed under its size and time is seen by replay and verify', async () => {
  await using codebase = await composed();
  changeUnseen(codebase, '.claw/base/src/b.ts', 'line7 ', 'lime7 ');
  expect((await codebase.claw('verify')).json.error?.code).toBe('DIGEST_MISMATCH');
  expect((await codebase.claw('replay')).code).toBe(0);
  expect(codebase.read('.claw/base/src/b.ts')).toBe(TEXT);
  expect(codebase.read('src/b.ts')).toBe(TEXT);
});

test('a kept package changed in place is mended from its source, or refused', async () => {
  await using codebase = await composed();
  const path = '.claw/packages/two.package';
  const text = codebase.read(path);
  changeUnseen(codebase, path, '= 1', '= 2');
  expect((await codebase.claw('remove', 'one')).code).toBe(0);
  expect(codebase.read(path)).toBe(text);
  changeUnseen(codebase, path, '= 1', '= 2');
  codebase.remove('skills/two');
  commitAll(codebase, 'the source is gone');
  for (const args of [['remove', 'three'], ['replay'], ['verify']]) {
    expect((await codebase.claw(...args)).json.error?.code).toBe('DIGEST_MISMATCH');
  }
  expect(codebase.read('src/two.ts')).toBe('export const two = 1;\n');
});

test('a composed file changed in place is refused by a removal and mended by replay', async () => {
  await using codebase = await composed();
  const path = '.claw/composed/src/a.ts';
  const text = codebase.read(path);
  changeUnseen(codebase, path, 'line7 ', 'lime7 ');
  expect((await codebase.claw('remove', 'two')).json.error?.code).toBe('DIGEST_MISMATCH');
  expect((await codebase.claw('replay')).code).toBe(0);
  expect(codebase.read(path)).toBe(text);
});

test('a state edited by hand counts as it stands', async () => {
  await using codebase = await composed();
  const text = codebase.read('.claw/state.yaml');
  codebase.write({ '.claw/state.yaml': text.replace('source: two', 'source: tow') });
  const { data } = (await codebase.claw('status')).json;
  expect(JSON.stringify(data)).toContain('"source":"tow"');
  codebase.write({ '.claw/state.yaml': text.replace('source: two', 'source: [') });
  expect((await codebase.claw('status')).json.error?.code).toBe('STATE_INVALID');
});
