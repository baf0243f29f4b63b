import { expect, test } from 'vitest';
import { addSkill, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

test('a rename carries the owner’s edits along, and back again', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'src/a.ts', to: 'lib/b.ts' }] },
  });
  const edited = LINES.replace('seven', 'mine');
  codebase.write({ 'src/a.ts': edited });
  const run = await codebase.claw('apply', 'mover');
  expect(run).toMatchObject({ code: 0, json: { changes: [{ path: 'lib/b.ts', kind: 'rename' }] } });
  expect(codebase.read('lib/b.ts')).toBe(edited);
  expect(codebase.has('src')).toBe(false);
  codebase.write({ 'lib/b.ts': edited.replace('two', 'mine too') });
  expect((await codebase.claw('remove', 'mover')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(edited.replace('two', 'mine too'));
  expect(codebase.has('lib')).toBe(false);
});

test('a file that was moved and then deleted by the owner stays deleted when the move is undone', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  addSkill(codebase, 'mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'src/a.ts', to: 'lib/b.ts' }] },
  });
  expect((await codebase.claw('apply', 'mover')).code).toBe(0);
  codebase.remove('lib');
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.has('src/a.ts')).toBe(false);
  expect(codebase.has('lib')).toBe(false);
});

test('a later layer that names the old path lands in the new one', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'a-mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'move', from: 'src/a.ts', to: 'lib/a.ts' }] },
  });
  addSkill(codebase, 'editor', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'editor')).code).toBe(0);
  expect((await codebase.claw('apply', 'a-mover')).code).toBe(0);
  expect(codebase.read('lib/a.ts')).toBe(LINES.replace('one', 'ONE'));
  expect(codebase.has('src/a.ts')).toBe(false);
  expect((await codebase.claw('remove', 'editor')).code).toBe(0);
  expect(codebase.read('lib/a.ts')).toBe(LINES);
  expect((await codebase.claw('remove', 'a-mover')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test('a deletion is clean where the file equals its base, and undone by removal', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  const manifest = { file_ops: [{ type: 'delete', path: 'src/a.ts' }] };
  addSkill(codebase, 'cleaner', { base: { 'src/a.ts': LINES }, manifest });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'cleaner')).code).toBe(0);
  expect(codebase.has('src')).toBe(false);
  expect((await codebase.claw('remove', 'cleaner')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test('a deletion of a file with somebody’s changes is a conflict', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  const manifest = { file_ops: [{ type: 'delete', path: 'src/a.ts' }] };
  addSkill(codebase, 'cleaner', { base: { 'src/a.ts': LINES }, manifest });
  addSkill(codebase, 'editor', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  codebase.write({ 'src/a.ts': `${LINES}mine\n` });
  const mine = await codebase.claw('apply', 'cleaner');
  expect(mine).toMatchObject({ code: 3, json: { conflicts: [{ kind: 'modify-delete' }] } });
  codebase.write({ 'src/a.ts': LINES });
  expect((await codebase.claw('apply', 'editor')).code).toBe(0);
  const theirs = await codebase.claw('apply', 'cleaner');
  expect(theirs).toMatchObject({ code: 3, json: { conflicts: [{ path: 'src/a.ts' }] } });
});

test('equal operations of two skills are one, different ones conflict', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  const rename = (to: string) => ({
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'src/a.ts', to }] },
  });
  addSkill(codebase, 'first', rename('src/b.ts'));
  addSkill(codebase, 'second', rename('src/b.ts'));
  addSkill(codebase, 'third', rename('src/c.ts'));
  expect((await codebase.claw('apply', 'first', 'second')).code).toBe(0);
  expect(codebase.read('src/b.ts')).toBe(LINES);
  expect((await codebase.claw('apply', 'third')).code).toBe(3);
  expect((await codebase.claw('remove', 'first')).code).toBe(0);
  expect(codebase.read('src/b.ts')).toBe(LINES);
  expect((await codebase.claw('remove', 'second')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
});

test('modes and binary files come and go whole', async () => {
  const binary = Buffer.from([0, 1, 2, 255, 254, 13, 10, 0]);
  await using codebase = temporaryCodebase({ 'run.sh': 'echo\n', 'a.bin': binary }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'tool.sh': { text: '#!/bin/sh\n', mode: 0o755 }, 'b.bin': binary },
    modify: { 'run.sh': ['echo\n', { text: 'echo\n', mode: 0o755 }] },
  });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  const after = codebase.tree();
  expect(after['run.sh']).toBe('echo\n +x');
  expect(after['tool.sh']).toBe('#!/bin/sh\n +x');
  expect(after['b.bin']).toBe(before['a.bin']);
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test('a CRLF file and an LF skill merge, and the file keeps its line ends', async () => {
  const crlf = LINES.replaceAll('\n', '\r\n');
  await using codebase = temporaryCodebase({ 'src/a.ts': crlf }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('four', 'FOUR')] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(crlf.replace('four', 'FOUR'));
});

test('files that change places each keep the changes of later layers and the owner', async () => {
  const [a, b] = ['a one\na two\na three\n', 'b one\nb two\nb three\n'];
  await using codebase = temporaryCodebase({ 'a.txt': a, 'b.txt': b });
  const rename = (from: string, to: string) => ({ type: 'rename', from, to });
  addSkill(codebase, 'move', {
    base: { 'a.txt': a, 'b.txt': b },
    manifest: {
      file_ops: [rename('a.txt', 't.txt'), rename('b.txt', 'a.txt'), rename('t.txt', 'b.txt')],
    },
  });
  addSkill(codebase, 'word', { modify: { 'a.txt': [a, a.replace('a one', 'a first')] } });
  expect((await codebase.claw('apply', 'move', 'word')).code).toBe(0);
  expect(codebase.read('a.txt')).toBe(b);
  expect(codebase.read('b.txt')).toBe(a.replace('a one', 'a first'));
  codebase.write({
    'a.txt': b.replace('b three', 'b mine'),
    'b.txt': codebase.read('b.txt').replace('a three', 'a mine'),
  });
  expect((await codebase.claw('customize', 'mine')).json).toMatchObject({ ok: true, changes: [] });
  expect((await codebase.claw('remove', 'move')).code).toBe(0);
  expect(codebase.read('a.txt')).toBe('a first\na two\na mine\n');
  expect(codebase.read('b.txt')).toBe('b one\nb two\nb mine\n');
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('an edit of a moved file and a new file in its old place are recorded together', async () => {
  const text = 'one\ntwo\nthree\n';
  for (const shim of [{}, { 'a.txt': 'shim\n' }]) {
    await using codebase = temporaryCodebase({ 'a.txt': text });
    addSkill(codebase, 'move', {
      add: shim,
      base: { 'a.txt': text },
      manifest: { file_ops: [{ type: 'rename', from: 'a.txt', to: 'b.txt' }] },
    });
    await codebase.claw('apply', 'move');
    codebase.write({ 'a.txt': 'shim\nmine\n', 'b.txt': text.replace('two', 'mine') });
    const before = codebase.tree();
    expect((await codebase.claw('customize', 'mine')).json).toMatchObject({
      ok: true,
      changes: [],
    });
    expect(codebase.tree()).toEqual(before);
    expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
    expect((await codebase.claw('remove', 'custom-mine')).code).toBe(0);
    expect(codebase.read('b.txt')).toBe(text);
    expect(codebase.has('a.txt')).toBe('a.txt' in shim);
  }
});
