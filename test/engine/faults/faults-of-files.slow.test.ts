import { mkdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addSkill, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { versioned } from '../releases.ts';

// The same list, where single files were spoiled: docs/faults.md.

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const DONE = { code: 0, json: { outcome: 'done', error: null, conflicts: [] } };

test('a skill that is taken out leaves no package, setting, service or image package behind', async () => {
  const files = {
    'package.json': `${JSON.stringify({ name: 'app', version: '1.0.0', dependencies: {} }, null, 4)}\n`,
    '.env.example': '# ours\nNAME=a\n',
    'docker-compose.yml': 'services:\n  db: # the store\n    image: postgres:16\n',
    'claw.config.yaml': 'structured: { container/packages.json: container }\n',
    'container/packages.json': '{ "apt": ["git"], "npm": {} }\n',
    '.gitignore': 'node_modules\n',
  };
  await using codebase = temporaryCodebase(files, { git: true });
  mkdirSync(codebase.path('node_modules'));
  const structured = {
    npm_dependencies: { 'is-number': '^7.0.0' },
    env_additions: ['DEMO_TOKEN'],
    docker_compose_services: { cache: { image: 'redis:7', ports: ['127.0.0.1:6379:6379'] } },
    container: { apt_packages: ['ffmpeg'], npm_dependencies: { zx: '^8.0.0' } },
  };
  addSkill(codebase, 'demo', { manifest: { structured } });
  const kept = { structured: { ...structured, npm_dependencies: {}, env_additions: ['KEPT'] } };
  addSkill(codebase, 'other', { manifest: kept });
  const before = codebase.tree();
  expect(await codebase.claw('apply', 'demo', 'other')).toMatchObject(DONE);
  expect(codebase.read('package.json')).toContain('"is-number": "^7.0.0"');
  // What both declared stays as long as one of them is there.
  expect(await codebase.claw('remove', 'demo')).toMatchObject(DONE);
  expect(codebase.read('package.json')).toBe(files['package.json']);
  expect(codebase.read('.env.example')).toBe('# ours\nNAME=a\n\nKEPT=\n');
  expect(codebase.read('docker-compose.yml')).toContain('redis:7');
  expect(codebase.read('container/packages.json')).toContain('ffmpeg');
  expect(await codebase.claw('remove', 'other')).toMatchObject(DONE);
  expect(codebase.tree()).toEqual(before);
});

test('^0.1 and ^0.9 of one package have no version in common, and that is a conflict', async () => {
  await using codebase = temporaryCodebase({ 'package.json': versioned('1.0.0') }, { git: true });
  for (const [name, range] of [
    ['early', '^0.1.0'],
    ['late', '^0.9.0'],
  ] as const) {
    addSkill(codebase, name, {
      manifest: { structured: { npm_dependencies: { something: range } } },
    });
  }
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'early', 'late');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([
    {
      path: 'package.json#dependencies.something',
      kind: 'structured',
      layers: ['early', 'late'],
    },
  ]);
  expect(codebase.tree()).toEqual(before);
});

test('a conflict that one skill declares holds whichever of the two comes first', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'shy', { add: { 'shy.txt': 'shy\n' }, manifest: { conflicts: ['bold'] } });
  addSkill(codebase, 'bold', { add: { 'bold.txt': 'bold\n' } });
  for (const [first, second] of [
    ['shy', 'bold'],
    ['bold', 'shy'],
  ] as const) {
    expect(await codebase.claw('apply', first)).toMatchObject(DONE);
    const tree = codebase.tree();
    const run = await codebase.claw('apply', second);
    expect(run).toMatchObject({ code: 1, json: { outcome: 'refused' } });
    expect(run.json.error?.message).toMatch(/shy.*bold|bold.*shy/);
    expect(codebase.tree()).toEqual(tree);
    expect(await codebase.claw('remove', first)).toMatchObject(DONE);
  }
});

test('a binary file is one side or the other to the byte, and never both in one', async () => {
  const icon = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 13, 10, 1]);
  const other = (by: number) => Buffer.concat([icon, Buffer.from([0, by])]);
  await using codebase = temporaryCodebase({ 'icon.png': icon }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'icon.png': [icon, other(1)] } });
  addSkill(codebase, 'rival', { modify: { 'icon.png': [icon, other(2)] } });
  const bytes = () => readFileSync(codebase.path('icon.png'));
  expect(await codebase.claw('apply', 'demo')).toMatchObject(DONE);
  expect(bytes()).toEqual(other(1));
  const blocked = await codebase.claw('apply', 'rival');
  expect(blocked).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'icon.png', kind: 'binary', layers: ['demo', 'rival'] }] },
  });
  expect(bytes()).toEqual(other(1));
  expect((await codebase.claw('resolve', 'icon.png', '--theirs')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject(DONE);
  expect(bytes()).toEqual(other(2));
  expect(await codebase.claw('remove', 'demo', 'rival')).toMatchObject(DONE);
  expect(bytes()).toEqual(icon);
});

test('a file with Windows line ends keeps every one of them under an LF skill and an edit', async () => {
  const windows = LINES.replaceAll('\n', '\r\n');
  await using codebase = temporaryCodebase({ 'a.txt': windows }, { git: true });
  const two = LINES.replace('two', 'two\nand a half');
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, two] } });
  codebase.write({ 'a.txt': windows.replace('nine', 'nine of mine') });
  expect(await codebase.claw('apply', 'demo')).toMatchObject(DONE);
  const expected = windows.replace('nine', 'nine of mine');
  expect(codebase.read('a.txt')).toBe(expected.replace('two', 'two\r\nand a half'));
  expect(await codebase.claw('remove', 'demo')).toMatchObject(DONE);
  expect(codebase.read('a.txt')).toBe(expected);
});

test('a script stays executable when a skill changes it, and an added one becomes it', async () => {
  const script = (text: string) => ({ text, mode: 0o755 });
  const core = { 'run.sh': script(LINES), 'plain.txt': LINES };
  await using codebase = temporaryCodebase(core, { git: true });
  const changed = LINES.replace('two', 'TWO');
  addSkill(codebase, 'demo', {
    add: { 'tool.sh': script('#!/bin/sh\n') },
    // The package's own files have no mode to speak of, as after a download.
    modify: { 'run.sh': [LINES, changed], 'plain.txt': [LINES, changed] },
  });
  const before = codebase.tree();
  expect(await codebase.claw('apply', 'demo')).toMatchObject(DONE);
  expect(codebase.tree()).toMatchObject({
    'run.sh': `${changed} +x`,
    'tool.sh': '#!/bin/sh\n +x',
    'plain.txt': changed,
  });
  expect(await codebase.claw('remove', 'demo')).toMatchObject(DONE);
  expect(codebase.tree()).toEqual(before);
});

test('a file of the owner’s at a path that a skill adds is a conflict, and stays what it is', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  codebase.write({ 'src/new.txt': 'mine, for weeks\n' });
  addSkill(codebase, 'demo', {
    add: { 'src/new.txt': 'theirs\n', 'src/free.txt': 'theirs\n' },
    modify: { 'a.txt': [LINES, LINES.replace('two', 'TWO')] },
  });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'demo');
  expect(run).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'src/new.txt', kind: 'add-add' }] },
  });
  expect(codebase.tree()).toEqual(before);
});

test('two skills that add one path are told apart: the same bytes once, other bytes a conflict', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'first', { add: { 'lib/shared.txt': 'shared\n' } });
  addSkill(codebase, 'second', { add: { 'lib/shared.txt': 'shared\n' } });
  addSkill(codebase, 'third', { add: { 'lib/shared.txt': 'not that\n' } });
  expect(await codebase.claw('apply', 'first', 'second')).toMatchObject(DONE);
  const tree = codebase.tree();
  const run = await codebase.claw('apply', 'third');
  expect(run).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'lib/shared.txt', kind: 'add-add', layers: ['first', 'third'] }] },
  });
  expect(codebase.tree()).toEqual(tree);
  expect(await codebase.claw('remove', 'first')).toMatchObject(DONE);
  expect(codebase.read('lib/shared.txt')).toBe('shared\n');
  expect(await codebase.claw('remove', 'second')).toMatchObject(DONE);
  expect(codebase.has('lib')).toBe(false);
});
