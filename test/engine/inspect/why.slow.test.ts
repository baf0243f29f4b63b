import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';

type Owned = { from: number; to: number; owner: string; kind: string; text: string };
type Why = { path: string; ranges: Owned[]; binary: boolean; gone: Record<string, unknown> | null };

async function why(codebase: Codebase, place: string): Promise<Why> {
  const run = await codebase.claw('why', place);
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', error: null, warnings: [] } });
  return run.json.data as Why;
}

/** The owner of each line, as `1-3 core`. */
async function owners(codebase: Codebase, place: string): Promise<readonly string[]> {
  const { ranges } = await why(codebase, place);
  return ranges.map(({ from, to, owner }) => `${from}-${to} ${owner}`);
}

/** A core file that two skills, a customisation and an unrecorded edit have changed. */
async function woven(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'src/a.ts': LINES, 'src/other.ts': 'other\n' },
    { git: true },
  );
  addSkill(codebase, 'alpha', {
    modify: { 'src/a.ts': [LINES, LINES.replace('two\n', 'two\nalpha 1\nalpha 2\n')] },
    add: { 'src/alpha.ts': 'alpha\n' },
  });
  addSkill(codebase, 'beta', {
    version: '2.1.0',
    modify: { 'src/a.ts': [LINES, LINES.replace('five', 'FIVE')] },
  });
  expect((await codebase.claw('apply', 'alpha', 'beta')).code).toBe(0);
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('seven', 'SEVEN, louder') });
  expect((await codebase.claw('customize', 'A louder seven')).code).toBe(0);
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('nine\n', 'nine\nmine\n') });
  return codebase;
}

test('every line of a file is the core’s, a skill’s, a customisation’s or an edit', async () => {
  await using codebase = await woven();
  expect(await why(codebase, 'src/a.ts')).toEqual({
    path: 'src/a.ts',
    binary: false,
    gone: null,
    ranges: [
      { from: 1, to: 2, owner: 'core', kind: 'core', version: '1.0.0', text: 'one\ntwo\n' },
      {
        from: 3,
        to: 4,
        owner: 'alpha',
        kind: 'skill',
        version: '1.0.0',
        description: 'The skill alpha',
        text: 'alpha 1\nalpha 2\n',
      },
      { from: 5, to: 6, owner: 'core', kind: 'core', version: '1.0.0', text: 'three\nfour\n' },
      {
        from: 7,
        to: 7,
        owner: 'beta',
        kind: 'skill',
        version: '2.1.0',
        description: 'The skill beta',
        text: 'FIVE\n',
      },
      { from: 8, to: 8, owner: 'core', kind: 'core', version: '1.0.0', text: 'six\n' },
      {
        from: 9,
        to: 9,
        owner: 'custom-a-louder-seven',
        kind: 'customisation',
        version: '1.0.0',
        description: 'A louder seven',
        text: 'SEVEN, louder\n',
      },
      { from: 10, to: 11, owner: 'core', kind: 'core', version: '1.0.0', text: 'eight\nnine\n' },
      { from: 12, to: 12, owner: 'your edits', kind: 'edit', text: 'mine\n' },
    ],
  });
  expect(await owners(codebase, 'src/other.ts')).toEqual(['1-1 core']);
  expect(await owners(codebase, 'src/alpha.ts')).toEqual(['1-1 alpha']);
});

test('a line or a stretch of lines is answered alone, from wherever one stands', async () => {
  await using codebase = await woven();
  expect(await owners(codebase, 'src/a.ts:4')).toEqual(['4-4 alpha']);
  expect(await owners(codebase, './src/../src/a.ts:4-7')).toEqual([
    '4-4 alpha',
    '5-6 core',
    '7-7 beta',
  ]);
  expect(await owners(codebase, 'src/a.ts:12-99')).toEqual(['12-12 your edits']);
  const below = spawnSync(process.execPath, [CLAW, 'why', 'a.ts:7', '--json'], {
    cwd: codebase.path('src'),
    encoding: 'utf8',
  });
  expect(JSON.parse(below.stdout).data.ranges).toMatchObject([{ owner: 'beta', text: 'FIVE\n' }]);
  for (const place of ['src/a.ts:0', 'src/a.ts:13', 'src/a.ts:5-4']) {
    const run = await codebase.claw('why', place);
    expect(run, place).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
    expect(run.json.error?.message).toMatch(/has no line .*: it has 12 lines/);
  }
});

test('an untracked file of the owner’s is all edit', async () => {
  await using codebase = await woven();
  codebase.write({ 'notes.txt': 'mine\nall of it' });
  expect((await why(codebase, 'notes.txt')).ranges).toEqual([
    { from: 1, to: 2, owner: 'your edits', kind: 'edit', text: 'mine\nall of it' },
  ]);
  codebase.write({ 'empty.txt': '' });
  expect((await why(codebase, 'empty.txt')).ranges).toEqual([]);
});

test('a file that is gone says who deleted or moved it', async () => {
  await using codebase = temporaryCodebase(
    { 'a.ts': LINES, 'b.ts': 'b\n', 'c.ts': 'c\n' },
    { git: true },
  );
  addSkill(codebase, 'cleaner', {
    base: { 'a.ts': LINES, 'b.ts': 'b\n' },
    modify: { 'lib/a.ts': [LINES, LINES.replace('two', 'TWO')] },
    manifest: {
      file_ops: [
        { type: 'rename', from: 'a.ts', to: 'lib/a.ts' },
        { type: 'delete', path: 'b.ts' },
      ],
    },
  });
  expect((await codebase.claw('apply', 'cleaner')).json.error).toBe(null);
  codebase.remove('c.ts');
  const cleaner = { owner: 'cleaner', kind: 'skill', version: '1.0.0' };
  expect((await why(codebase, 'a.ts')).gone).toMatchObject({ ...cleaner, movedTo: 'lib/a.ts' });
  expect((await why(codebase, 'b.ts')).gone).toMatchObject({ ...cleaner, movedTo: null });
  expect((await why(codebase, 'c.ts')).gone).toMatchObject({ owner: 'your edits', kind: 'edit' });
  expect(await owners(codebase, 'lib/a.ts')).toEqual(['1-1 core', '2-2 cleaner', '3-9 core']);
  codebase.write({ 'b.ts': 'again\n' });
  expect(await owners(codebase, 'b.ts')).toEqual(['1-1 your edits']);
});

test('a line that a recorded resolution resolved names it, and between whom', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  for (const skill of ['alpha', 'beta']) {
    addSkill(codebase, skill, {
      modify: { 'src/a.ts': [LINES, LINES.replace('two', `two of ${skill}`)] },
    });
  }
  expect((await codebase.claw('apply', 'alpha')).code).toBe(0);
  expect((await codebase.claw('apply', 'beta')).code).toBe(3);
  codebase.write({ 'both.ts': LINES.replace('two', 'two of both\nand more') });
  const resolved = await codebase.claw('resolve', 'src/a.ts', '--with', codebase.path('both.ts'));
  expect(resolved.json.error).toBe(null);
  codebase.remove('both.ts');
  expect((await codebase.claw('continue')).json.error).toBe(null);
  const { ranges } = await why(codebase, 'src/a.ts');
  const [key] = Object.keys(codebase.state()).flatMap(
    (path) => /^resolutions\/([0-9a-f]{16})\.yaml$/.exec(path)?.[1] ?? [],
  );
  expect(ranges).toMatchObject([
    { from: 1, to: 1, kind: 'core' },
    {
      from: 2,
      to: 3,
      owner: 'resolution',
      kind: 'resolution',
      key,
      layers: ['alpha', 'beta'],
      origin: 'owner',
      text: 'two of both\nand more\n',
    },
    { from: 4, to: 10, kind: 'core' },
  ]);
});

test('hunks that were resolved at different times name different recordings', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  const changed = (skill: string, ...numbers: string[]) =>
    numbers.reduce((text, number) => text.replace(number, `${number} of ${skill}`), LINES);
  const offer = (skill: string, version: string, ...numbers: string[]) =>
    addSkill(codebase, skill, {
      version,
      modify: { 'src/a.ts': [LINES, changed(skill, ...numbers)] },
    });
  offer('alpha', '1.0.0', 'two');
  offer('beta', '1.0.0', 'two', 'eight');
  expect((await codebase.claw('apply', 'alpha')).code).toBe(0);
  expect((await codebase.claw('apply', 'beta')).code).toBe(3);
  expect((await codebase.claw('resolve', 'src/a.ts', '--ours')).code).toBe(0);
  expect((await codebase.claw('continue')).json.error).toBe(null);
  offer('alpha', '1.1.0', 'eight');
  expect((await codebase.claw('upgrade', 'alpha')).code).toBe(3);
  expect((await codebase.claw('resolve', 'src/a.ts', '--take', 'beta')).code).toBe(0);
  expect((await codebase.claw('continue')).json.error).toBe(null);
  offer('alpha', '1.2.0', 'two', 'eight');
  expect((await codebase.claw('upgrade', 'alpha')).code).toBe(0);
  const { ranges } = await why(codebase, 'src/a.ts');
  expect(ranges).toMatchObject([
    { kind: 'core' },
    { from: 2, kind: 'resolution', layers: ['alpha', 'beta'], text: 'two of alpha\n' },
    { kind: 'core' },
    { from: 8, kind: 'resolution', layers: ['alpha', 'beta'], text: 'eight of beta\n' },
    { kind: 'core' },
  ]);
  const keys = ranges.flatMap((range) => ('key' in range ? [range.key] : []));
  expect(new Set(keys).size).toBe(2);
});

test('a value that was decided names the recording, and between whom', async () => {
  await using codebase = temporaryCodebase({ '.env.example': 'NAME=a\n' }, { git: true });
  for (const skill of ['alpha', 'beta']) {
    addSkill(codebase, skill, {
      manifest: { structured: { env_additions: [{ name: 'LEVEL', example: skill }] } },
    });
  }
  expect((await codebase.claw('apply', 'alpha', 'beta')).code).toBe(3);
  expect((await codebase.claw('resolve', '.env.example#LEVEL', '--theirs')).json.error).toBe(null);
  expect((await codebase.claw('continue')).json.error).toBe(null);
  expect((await why(codebase, '.env.example:3')).ranges).toMatchObject([
    {
      text: 'LEVEL=beta\n',
      kind: 'resolution',
      key: expect.stringMatching(/^[0-9a-f]{16}$/),
      layers: ['alpha', 'beta'],
      origin: 'owner',
    },
  ]);
});

test('a setting belongs to the skills that declare it', async () => {
  await using codebase = temporaryCodebase({ '.env.example': '# core\nNAME=a\n' }, { git: true });
  const setting = (name: string) => ({ name, description: `About ${name}` });
  addSkill(codebase, 'alpha', {
    manifest: { structured: { env_additions: [setting('ALPHA'), setting('SHARED')] } },
  });
  addSkill(codebase, 'beta', {
    manifest: { structured: { env_additions: [setting('BETA'), setting('SHARED')] } },
  });
  expect((await codebase.claw('apply', 'alpha', 'beta')).json.error).toBe(null);
  codebase.write({ '.env.example': codebase.read('.env.example').replace('BETA=', 'BETA=mine') });
  const { ranges } = await why(codebase, '.env.example');
  const named = ranges.flatMap(({ owner, text }) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${owner}: ${line}`),
  );
  expect(named).toEqual([
    'core: # core',
    'core: NAME=a',
    'alpha: # About ALPHA',
    'alpha: ALPHA=',
    'alpha, beta: # About SHARED',
    'alpha, beta: SHARED=',
    'beta: # About BETA',
    'your edits: BETA=mine',
  ]);
});

test('services and image packages belong to the skills that declare them, look-alikes included', async () => {
  await using codebase = temporaryCodebase(
    {
      'docker-compose.yml':
        'services:\n  db: # the store\n    image: postgres:16\n    restart: always\n',
      'claw.config.yaml': 'structured: { container/packages.json: container }\n',
      'container/packages.json': '{\n  "apt": [\n    "git"\n  ],\n  "npm": {}\n}\n',
    },
    { git: true },
  );
  const structured = (name: string, apt: string) => ({
    docker_compose_services: {
      [name]: { image: `${name}:1`, restart: 'always', volumes: [`${name}-data:/data`] },
    },
    container: { apt_packages: [apt], npm_dependencies: { [`${name}-tool`]: '^1.0.0' } },
  });
  addSkill(codebase, 'alpha', { manifest: { structured: structured('aaa', 'curl') } });
  addSkill(codebase, 'beta', { manifest: { structured: structured('zzz', 'jq') } });
  expect((await codebase.claw('apply', 'alpha', 'beta')).json.error).toBe(null);
  const lines = async (path: string) =>
    (await why(codebase, path)).ranges.flatMap(({ owner, text }) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => `${owner.padEnd(11)} ${line}`),
    );
  expect(await lines('docker-compose.yml')).toEqual([
    'core        services:',
    'core          db: # the store',
    'core            image: postgres:16',
    'core            restart: always',
    'alpha         aaa:',
    'alpha           image: aaa:1',
    'alpha           restart: always',
    'alpha           volumes:',
    'alpha             - aaa-data:/data',
    'beta          zzz:',
    'beta            image: zzz:1',
    'beta            restart: always',
    'beta            volumes:',
    'beta              - zzz-data:/data',
    'alpha, beta volumes:',
    'alpha         aaa-data:',
    'beta          zzz-data:',
  ]);
  expect(await lines('container/packages.json')).toEqual([
    'core        {',
    'core          "apt": [',
    'alpha           "curl",',
    'core            "git",',
    'beta            "jq"',
    'core          ],',
    'core          "npm": {',
    'alpha           "aaa-tool": "^1.0.0",',
    'beta            "zzz-tool": "^1.0.0"',
    'core          }',
    'core        }',
  ]);
});

test('a package and what npm locks for it belong to the skill that declares it', async () => {
  const manifest = '{\n  "name": "app",\n  "dependencies": {},\n  "private": true\n}\n';
  await using codebase = temporaryCodebase({ 'package.json': manifest }, { git: true });
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { 'is-number': '^7.0.0' } } },
  });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  const text = codebase.read('package.json');
  codebase.write({ 'package.json': text.replace('true\n', 'true,\n  "license": "MIT"\n') });
  expect(await owners(codebase, 'package.json')).toEqual([
    '1-3 core',
    '4-4 demo',
    '5-6 core',
    '7-7 your edits',
    '8-8 core',
  ]);
  expect(await owners(codebase, 'package-lock.json:1-9')).toEqual(['1-9 demo']);
});

test('a binary file has one owner', async () => {
  const bytes = (last: number) => Buffer.from([0, 1, 2, 10, 13, 10, last]);
  await using codebase = temporaryCodebase({ 'a.bin': bytes(1), 'b.bin': bytes(1) }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.bin': [bytes(1), bytes(2)] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  expect(await why(codebase, 'a.bin')).toMatchObject({
    binary: true,
    ranges: [{ from: 1, to: 1, owner: 'demo', text: '' }],
  });
  expect(await owners(codebase, 'b.bin')).toEqual(['1-1 core']);
  codebase.write({ 'a.bin': bytes(3) });
  expect(await owners(codebase, 'a.bin')).toEqual(['1-1 your edits']);
});

test('line ends alone make no line another’s', async () => {
  const crlf = LINES.replaceAll('\n', '\r\n');
  await using codebase = temporaryCodebase({ 'a.ts': crlf }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.ts': [LINES, LINES.replace('four', 'FOUR')] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  expect(await owners(codebase, 'a.ts')).toEqual(['1-3 core', '4-4 demo', '5-9 core']);
});

test('what was published counts where this engine would compose otherwise', async () => {
  await using codebase = await woven();
  // As an older engine might have published it, digests and all.
  const text = codebase.read('src/a.ts').replace('mine\n', '').replace('eight', 'EIGHT');
  const { digestBytes } = await import('../../../packages/claw/src/digest.ts');
  const pinned = digestBytes(codebase.read('.claw/composed/src/a.ts'));
  const state = codebase.read('.claw/state.yaml').replace(pinned, digestBytes(text));
  codebase.write({ '.claw/composed/src/a.ts': text, '.claw/state.yaml': state, 'src/a.ts': text });
  const { ranges } = await why(codebase, 'src/a.ts:10');
  const layers = ['alpha', 'beta', 'custom-a-louder-seven'];
  expect(ranges).toMatchObject([{ owner: layers.join(', '), layers, text: 'EIGHT\n' }]);
});

test('what is not a file of the project is refused, and says why', async () => {
  await using codebase = await woven();
  codebase.write({
    '.gitignore': '*.log\n',
    'debug.log': 'ignored\n',
    'node_modules/a/index.js': 'a\n',
  });
  symlinkSync('a.ts', codebase.path('src/link.ts'));
  for (const [place, code, message] of [
    ['../outside.ts', 'USAGE', /not a file of this project/],
    ['/etc/passwd', 'USAGE', /not a file of this project/],
    ['src', 'USAGE', /is a folder/],
    ['.claw/state.yaml', 'USAGE', /claw’s own/],
    ['node_modules/a/index.js', 'USAGE', /not part of the core/],
    ['skills/alpha/manifest.yaml', 'USAGE', /not part of the core/],
    ['debug.log', 'USAGE', /ignored by git/],
    ['src/nothing.ts:3', 'FILE_MISSING', /no src\/nothing\.ts here/],
    ['src/link.ts', 'LINK_REFUSED', /symbolic link/],
  ] as const) {
    const error: unknown = await engine.why(contextOf(codebase), place).catch((thrown) => thrown);
    expect(error, place).toMatchObject({ code, message: expect.stringMatching(message) });
  }
});

test('where nothing is installed there is nothing to say', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'a\n' }, { git: true });
  const run = await codebase.claw('why', 'a.ts');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'NOT_INITIALISED' } } });
});

test('people read the owners beside the lines', async () => {
  await using codebase = await woven();
  const run = spawnSync(process.execPath, [CLAW, 'why', 'src/a.ts'], {
    cwd: codebase.root,
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  expect(run.stdout).toBe(`\
core 1.0.0              1  one
                        2  two
alpha 1.0.0             3  alpha 1
                        4  alpha 2
core 1.0.0              5  three
                        6  four
beta 2.1.0              7  FIVE
core 1.0.0              8  six
custom-a-louder-seven   9  SEVEN, louder
core 1.0.0             10  eight
                       11  nine
your edits             12  mine

alpha 1.0.0: The skill alpha
beta 2.1.0: The skill beta
custom-a-louder-seven: A louder seven
`);
});

test('verify says whose lines an edit touches', async () => {
  await using codebase = await woven();
  const touched = async () => {
    const { data } = (await codebase.claw('verify')).json;
    return (data as { edits: { path: string; touches: string[] }[] }).edits;
  };
  codebase.write({
    'src/a.ts': codebase.read('src/a.ts').replace('alpha 2', 'alpha 2!').replace('SEVEN', 'seven'),
    'new.ts': 'new\n',
  });
  codebase.remove('src/other.ts');
  expect(await touched()).toMatchObject([
    { path: 'new.ts', touches: [] },
    { path: 'src/a.ts', touches: ['alpha', 'custom-a-louder-seven'] },
    { path: 'src/other.ts', touches: ['core'] },
  ]);
  codebase.write({
    'src/a.ts': codebase.read('.claw/composed/src/a.ts').replace('alpha 2', 'in between\nalpha 2'),
  });
  expect(await touched()).toMatchObject([{}, { path: 'src/a.ts', touches: ['alpha'] }, {}]);
});
