import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  type Files,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const crlf = (text: string) => text.replaceAll('\n', '\r\n');
const bytes = (text: string) => Buffer.from(text, 'latin1');
const unended = (text: string) => text.replace(/\r?\n$/, '');
const BOM = '\xef\xbb\xbf';
// Ü and é in latin1: no UTF-8.
const LATIN1 = LINES.replace('two', 'tw\xd6').replace('six', 's\xefx');
const MIXED = 'one\r\ntwo\nthree\r\nfour\r\nfive\nsix\r\nseven\n';
const LONG = LINES.replace('two', 'x'.repeat(300_000)).replace('five', '\ty '.repeat(50_000));

/** The core's text, and the same text as the packages carry it. All of them latin1 for bytes. */
const TEXTS: Readonly<Record<string, readonly [core: string, packaged: string]>> = {
  'a CRLF file and LF skills': [crlf(LINES), LINES],
  'an LF file and CRLF skills': [LINES, crlf(LINES)],
  'mixed ends on both sides': [MIXED, MIXED],
  'mixed ends and LF skills': [MIXED.replace('seven', 'seven\r'), LINES],
  'no last newline anywhere': [unended(LINES), unended(LINES)],
  'no last newline in the core': [unended(LINES), LINES],
  'no last newline in the skills': [LINES, unended(LINES)],
  'CRLF without a last newline and LF skills': [unended(crlf(LINES)), LINES],
  'a BOM on both sides': [BOM + LINES, BOM + LINES],
  'a BOM in the core': [BOM + LINES, LINES],
  'a BOM in the skills': [LINES, BOM + LINES],
  'a BOM, CRLF, and plain skills': [BOM + crlf(LINES), LINES],
  'latin1 that is no UTF-8': [LATIN1, LATIN1],
  'very long lines': [LONG, LONG],
  'carriage returns within lines': [
    LINES.replace('two', 't\rw\ro'),
    LINES.replace('two', 't\rw\ro'),
  ],
};

/** Odd but legal names, each with plain content. */
const NAMES = [
  'with space/a b.txt',
  'quo\'te"s.txt',
  'NFC-\u00fc.txt',
  'NFD-u\u0308.txt',
  '$HOME `x` %1.txt',
  '日本/語.txt',
];

const ONE = ['one', 'ONE'] as const;
const OWNER = ['four', 'FOUR'] as const;
const TWO = ['seven', 'SEVEN'] as const;
type Replacement = readonly [from: string, to: string];

const cases: Readonly<Record<string, readonly [core: string, packaged: string]>> = {
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, texts]) => [`${name}.txt`, texts])),
  ...Object.fromEntries(NAMES.map((name) => [name, [LINES, LINES] as const])),
};

function expectTexts(codebase: Codebase, ...replacements: readonly Replacement[]): void {
  const found = Object.keys(cases).map((path) => [
    path,
    fs.readFileSync(codebase.path(path), 'latin1'),
  ]);
  const wanted = Object.entries(cases).map(([path, [core]]) => [
    path,
    replaced(core, replacements),
  ]);
  for (const [index, [path, text]] of wanted.entries()) {
    expect({ path, text: found[index]?.[1] }).toEqual({ path, text });
  }
}

function replaced(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((now, [from, to]) => now.replace(from, to), text);
}

test('bytes come out as they went in: applied, edited, applied again, removed, replayed', async () => {
  const files = Object.entries(cases).map(([path, [core]]) => [path, bytes(core)] as const);
  await using codebase = temporaryCodebase(Object.fromEntries(files), { git: true });
  for (const [skill, replacement] of [
    ['one', ONE],
    ['two', TWO],
  ] as const) {
    const modify = Object.entries(cases).map(([path, [, base]]) => {
      return [path, [bytes(base), bytes(replaced(base, [replacement]))]] as const;
    });
    addSkill(codebase, skill, { modify: Object.fromEntries(modify) });
  }
  const before = codebase.tree();
  const run = async (...args: string[]) => {
    const { json } = await codebase.claw(...args);
    expect(json).toMatchObject({ outcome: 'done', error: null, conflicts: [] });
    return json;
  };
  await run('apply', 'one');
  expectTexts(codebase, ONE);
  for (const path of Object.keys(cases)) {
    const text = fs.readFileSync(codebase.path(path), 'latin1');
    codebase.write({ [path]: bytes(replaced(text, [OWNER])) });
  }
  const { data } = await run('verify');
  const line = (path: string) => ({ path, owner: 'your edits', kind: 'modify', lines: [[4, 4]] });
  expect(data).toMatchObject({
    edits: Object.keys(cases).sort().map(line),
    recomposed: [],
    damaged: [],
  });
  await run('apply', 'two');
  expectTexts(codebase, ONE, OWNER, TWO);
  await run('remove', 'one');
  expectTexts(codebase, OWNER, TWO);
  await run('undo');
  expectTexts(codebase, ONE, OWNER, TWO);
  const composed = codebase.state();
  await run('remove', 'one', 'two');
  expectTexts(codebase, OWNER);
  await run('undo');
  expect(codebase.state()).toEqual(composed);
  // A clone of the core with .claw: the edits stay behind.
  codebase.git('add', 'skills', '.claw');
  codebase.git('commit', '--quiet', '-m', 'state');
  codebase.git('checkout', '--quiet', '.');
  await run('replay');
  expectTexts(codebase, ONE, TWO);
  expect((await run('verify')).data).toMatchObject({ clean: true });
  await run('remove', 'one', 'two');
  expect(codebase.tree()).toEqual(before);
});

test('recorded edits keep every byte too: line ends, BOM, binary files and modes', async () => {
  const files = Object.entries(cases).map(([path, [core]]) => [path, bytes(core)] as const);
  const odd = {
    'utf16.txt': UTF16,
    'run.sh': '#!/bin/sh\n',
    'logs/.gitignore': '*\n!.gitignore\n',
  };
  const core = { ...Object.fromEntries(files), ...odd };
  await using codebase = temporaryCodebase(core, { git: true });
  const modify = Object.entries(cases).map(([path, [, base]]) => {
    return [path, [bytes(base), bytes(replaced(base, [ONE]))]] as const;
  });
  addSkill(codebase, 'one', { modify: Object.fromEntries(modify) });
  const run = async (...args: string[]) => {
    const { json } = await codebase.claw(...args);
    expect(json).toMatchObject({ outcome: 'done', error: null, conflicts: [] });
    return json;
  };
  for (const [path, [text]] of Object.entries(cases)) {
    codebase.write({ [path]: bytes(replaced(text, [OWNER])) });
  }
  codebase.write({
    'utf16.txt': other(UTF16),
    'logs/.gitignore': '*\n!.gitignore\n!kept.md\n',
    'logs/kept.md': crlf(LINES),
    'new.bin': PICTURE,
  });
  fs.chmodSync(codebase.path('run.sh'), 0o755);
  const mine = codebase.tree();
  await run('customize', 'my own words');
  expect(codebase.tree()).toEqual(mine);
  await run('apply', 'one');
  expectTexts(codebase, OWNER, ONE);
  expect((await run('verify')).data).toMatchObject({ clean: true });
  const composed = codebase.tree();
  // A clone of the core with .claw: now the edits come along.
  codebase.git('add', 'skills', '.claw');
  codebase.git('commit', '--quiet', '-m', 'state');
  await using clone = openCodebase(fs.mkdtempSync(join(tmpdir(), 'claw-clone-')));
  clone.git('clone', '--quiet', codebase.root, '.');
  expect((await clone.claw('replay')).json).toMatchObject({ outcome: 'done', error: null });
  expect(clone.tree()).toEqual(composed);
  expect((await clone.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await clone.claw('doctor')).json).toMatchObject({ outcome: 'done' });
  await run('remove', 'one');
  expect(codebase.tree()).toEqual(mine);
});

/** A skill that changes a whole file's form, beside another skill's line and the owner's. */
test.each([
  ['CRLF', LINES, crlf(LINES)],
  ['LF', crlf(LINES), LINES],
  ['a BOM', LINES, BOM + LINES],
  ['no BOM', BOM + LINES, LINES],
  ['a last newline', unended(LINES), LINES],
  ['no last newline', LINES, unended(LINES)],
])('a skill that brings %s brings it to the others’ lines as well', async (_, core, form) => {
  await using codebase = temporaryCodebase({ 'a.txt': bytes(core) }, { git: true });
  addSkill(codebase, 'form', { modify: { 'a.txt': [bytes(core), bytes(form)] } });
  addSkill(codebase, 'line', { modify: { 'a.txt': [bytes(core), bytes(replaced(core, [ONE]))] } });
  codebase.write({ 'a.txt': bytes(replaced(core, [OWNER])) });
  for (const [args, text, replacements] of [
    [['apply', 'form'], form, [OWNER]],
    [['apply', 'line'], form, [OWNER, ONE]],
    [['remove', 'form'], core, [OWNER, ONE]],
    [['undo'], form, [OWNER, ONE]],
    [['remove', 'line'], form, [OWNER]],
    [['remove', 'form'], core, [OWNER]],
  ] as const) {
    expect((await codebase.claw(...args)).json).toMatchObject({ outcome: 'done', error: null });
    expect(fs.readFileSync(codebase.path('a.txt'), 'latin1')).toBe(replaced(text, replacements));
  }
});

test('a line with an odd end gets the file’s usual one when changed, and its own again', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': MIXED }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, replaced(LINES, [TWO])] } });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(MIXED.replace('seven\n', 'SEVEN\r\n'));
  expect((await codebase.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
});

test('verify tells line ends and modes apart from lines', async () => {
  const files = { 'ends.txt': LINES, 'last.txt': LINES, 'both.txt': LINES, 'run.sh': LINES };
  await using codebase = temporaryCodebase(files, { git: true });
  expect((await codebase.claw('init')).code).toBe(0);
  codebase.write({
    'ends.txt': crlf(LINES),
    'last.txt': unended(LINES),
    'both.txt': crlf(replaced(LINES, [OWNER])),
  });
  fs.chmodSync(codebase.path('run.sh'), 0o755);
  expect((await codebase.claw('verify')).json.data).toMatchObject({
    edits: [
      { path: 'both.txt', lines: [[4, 4]], form: ['line-ends'] },
      { path: 'ends.txt', lines: [], form: ['line-ends'] },
      { path: 'last.txt', lines: [], form: ['line-ends'] },
      { path: 'run.sh', lines: [], form: ['mode'] },
    ],
  });
  const text = execFileSync(process.execPath, [CLAW, 'verify', '--cwd', codebase.root]).toString();
  expect(text).toContain('  both.txt:4 (line ends)  your edits\n  ends.txt (line ends)  your');
  expect(text).toContain('  run.sh (mode)  your edits\n');
});

const UTF16 = Buffer.from(`\ufeff${LINES}`, 'utf16le');
const PICTURE = Buffer.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 10, 10, 1,
]);
const BINARY = { 'picture.png': PICTURE, 'utf16.txt': UTF16 } as const;
const other = (file: Buffer) => Buffer.concat([file, Buffer.from('\x00\x01', 'latin1')]);

test('binary files are one side or the other, never mixed', async () => {
  await using codebase = temporaryCodebase(BINARY, { git: true });
  const modify = (change: (file: Buffer) => Buffer) =>
    Object.fromEntries(
      Object.entries(BINARY).map(([path, file]) => [path, [file, change(file)] as const]),
    );
  addSkill(codebase, 'alpha', { modify: modify(other) });
  addSkill(codebase, 'same', { modify: modify(other) });
  addSkill(codebase, 'beta', { modify: modify((file) => other(other(file))) });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'alpha', 'same')).json).toMatchObject({ outcome: 'done' });
  for (const [path, file] of Object.entries(BINARY)) {
    expect(fs.readFileSync(codebase.path(path)).equals(other(file))).toBe(true);
  }
  const applied = codebase.tree();
  const blocked = await codebase.claw('apply', 'beta');
  const paths = Object.keys(BINARY).sort();
  expect(blocked.code).toBe(3);
  expect(blocked.json.conflicts).toMatchObject(
    paths.map((path) => ({ path, kind: 'binary', hunks: [] })),
  );
  expect(codebase.tree()).toEqual(applied);
  // The owner's own picture: kept by what does not touch it, a conflict for what does.
  codebase.write({ 'picture.png': Buffer.from('\x00mine', 'latin1') });
  const removal = await codebase.claw('remove', 'alpha', 'same');
  expect(removal).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'picture.png', kind: 'binary' }] },
  });
  expect((await codebase.claw('remove', 'same')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('picture.png')).toBe('\x00mine');
  codebase.write({ 'picture.png': other(PICTURE) });
  expect((await codebase.claw('remove', 'alpha')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
});

test('empty files are files: filled, emptied, added and taken away', async () => {
  const files = { 'empty.txt': '', 'full.txt': LINES, 'untouched.txt': '' };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'new/empty.txt': '' },
    modify: { 'empty.txt': ['', LINES], 'full.txt': [LINES, ''] },
  });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toMatchObject({
    'empty.txt': LINES,
    'full.txt': '',
    'new/empty.txt': '',
  });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  codebase.git('add', 'skills', '.claw');
  codebase.git('commit', '--quiet', '-m', 'state');
  codebase.git('checkout', '--quiet', '.');
  codebase.remove('new');
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toMatchObject({
    'empty.txt': LINES,
    'full.txt': '',
    'new/empty.txt': '',
  });
  expect((await codebase.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
});

test('a file of 5 MB is merged like any other, and none grows', async () => {
  const large = Array.from({ length: 200_000 }, (_, n) => `line ${n} of a large file\n`).join('');
  const blob = Buffer.alloc(5_000_000, 'a\x00b');
  await using codebase = temporaryCodebase({ 'large.txt': large, 'blob.bin': blob }, { git: true });
  addSkill(codebase, 'demo', {
    modify: {
      'large.txt': [large, large.replace('line 100 of', 'LINE 100 of')],
      'blob.bin': [blob, other(blob)],
    },
  });
  codebase.write({ 'large.txt': large.replace('line 199990 of', 'MINE 199990 of') });
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(fs.statSync(codebase.path('large.txt')).size).toBe(large.length);
  expect(codebase.read('large.txt')).toContain('LINE 100 of');
  expect(codebase.read('large.txt')).toContain('MINE 199990 of');
  expect(fs.statSync(codebase.path('blob.bin')).size).toBe(blob.length + 2);
  expect((await codebase.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('large.txt') === large.replace('line 199990 of', 'MINE 199990 of')).toBe(
    true,
  );
});

const script = (text: string) => ({ text, mode: 0o755 });
const plain = (text: string) => ({ text, mode: 0o644 });
const isExecutable = (codebase: Codebase, path: string) =>
  (fs.statSync(codebase.path(path)).mode & 0o111) === 0o111;

test('the right to execute is merged beside the text, and given back', async () => {
  const files: Files = {
    'kept.sh': script(LINES),
    'made.sh': plain(LINES),
    'taken.sh': script(LINES),
    'mine.sh': plain(LINES),
  };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'bin/new.sh': script('#!/bin/sh\n') },
    modify: {
      'kept.sh': [script(LINES), script(LINES.replace(...ONE))],
      'made.sh': [plain(LINES), script(LINES)],
      'taken.sh': [script(LINES), plain(LINES)],
      'mine.sh': [plain(LINES), plain(LINES.replace(...ONE))],
    },
  });
  fs.chmodSync(codebase.path('mine.sh'), 0o755);
  const before = codebase.tree();
  expect((await codebase.claw('status')).json.data).toMatchObject({ initialised: false });
  const run = await codebase.claw('apply', 'demo');
  expect(run.json).toMatchObject({ outcome: 'done', error: null });
  expect(run.json.changes.map(({ path }) => path)).toEqual([
    'bin/new.sh',
    'kept.sh',
    'made.sh',
    'mine.sh',
    'taken.sh',
  ]);
  const modes = () =>
    ['bin/new.sh', 'kept.sh', 'made.sh', 'mine.sh', 'taken.sh'].map((path) =>
      isExecutable(codebase, path),
    );
  expect(modes()).toEqual([true, true, true, true, false]);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'mine.sh', kind: 'modify' }],
  });
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'nothing' });
  fs.chmodSync(codebase.path('made.sh'), 0o644);
  expect((await codebase.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
});

test('a package whose base lost its modes does not take the right to execute away', async () => {
  await using codebase = temporaryCodebase({ 'run.sh': script(LINES) }, { git: true });
  addSkill(codebase, 'demo', {
    modify: { 'run.sh': [plain(LINES), plain(LINES.replace(...ONE))] },
  });
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toMatchObject({ 'run.sh': `${LINES.replace(...ONE)} +x` });
});

test('tracked links stay links, and what they point to is not followed', async () => {
  await using codebase = temporaryCodebase({ 'src/a.txt': LINES, 'b.txt': 'b\n' }, { git: true });
  fs.symlinkSync('src/a.txt', codebase.path('link.txt'));
  fs.symlinkSync('src', codebase.path('folder'));
  fs.symlinkSync('/etc', codebase.path('outside'));
  codebase.git('add', '--all');
  codebase.git('commit', '--quiet', '-m', 'links');
  codebase.git('tag', 'v1.1.0');
  addSkill(codebase, 'demo', { modify: { 'src/a.txt': [LINES, LINES.replace(...ONE)] } });
  addSkill(codebase, 'through', { add: { 'folder/new.txt': 'new\n' } });
  addSkill(codebase, 'onto', { modify: { 'link.txt': [LINES, LINES.replace(...ONE)] } });
  addSkill(codebase, 'out', { add: { 'outside/claw-was-here': 'new\n' } });
  const before = codebase.tree();
  for (const [skill, path] of [
    ['through', 'folder'],
    ['onto', 'link.txt'],
    ['out', 'outside'],
  ] as const) {
    const run = await codebase.claw('apply', skill);
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'LINK_REFUSED', path } } });
  }
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toMatchObject({
    'link.txt': '-> src/a.txt',
    folder: '-> src',
    outside: '-> /etc',
  });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
});

test('where the owner put a link or a FIFO since, it is refused and never opened', async () => {
  await using codebase = temporaryCodebase(
    { 'src/a.txt': LINES, 'lib/b.txt': LINES },
    { git: true },
  );
  addSkill(codebase, 'demo', {
    modify: {
      'src/a.txt': [LINES, LINES.replace(...ONE)],
      'lib/b.txt': [LINES, LINES.replace(...ONE)],
    },
  });
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  codebase.remove('src/a.txt');
  execFileSync('mkfifo', [codebase.path('src/a.txt')]);
  for (const verb of [['remove', 'demo'], ['plan', 'remove', 'demo'], ['undo'], ['replay']]) {
    const run = await codebase.claw(...verb);
    expect(run, verb.join(' ')).toMatchObject({
      code: 1,
      json: { error: { code: 'FILE_KIND', path: 'src/a.txt' } },
    });
  }
  expect(fs.lstatSync(codebase.path('src/a.txt')).isFIFO()).toBe(true);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'src/a.txt', kind: 'delete' }],
  });
  expect((await codebase.claw('verify')).json).toMatchObject({ outcome: 'done' });
  codebase.remove('src');
  fs.mkdirSync(codebase.path('elsewhere'));
  fs.symlinkSync('elsewhere', codebase.path('src'));
  const run = await codebase.claw('remove', 'demo');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'LINK_REFUSED', path: 'src' } } });
  expect(codebase.has('elsewhere/a.txt')).toBe(false);
});

test('a new line in a file’s name is kept in the core, and refused in a package', async () => {
  await using codebase = temporaryCodebase(
    { 'a\nb/c\nd.txt': LINES, 'src/a.txt': LINES },
    { git: true },
  );
  addSkill(codebase, 'demo', { modify: { 'src/a.txt': [LINES, LINES.replace(...ONE)] } });
  addSkill(codebase, 'bad', { modify: { 'a\nb/c\nd.txt': [LINES, LINES.replace(...ONE)] } });
  expect((await codebase.claw('apply', 'bad')).json.error).toMatchObject({ code: 'PATH_UNSAFE' });
  expect((await codebase.claw('apply', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  codebase.write({ 'a\nb/c\nd.txt': LINES.replace(...OWNER) });
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'a\nb/c\nd.txt', kind: 'modify' }],
  });
});
