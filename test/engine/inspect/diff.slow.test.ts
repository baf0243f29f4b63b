import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');

type Diff = {
  layer: string;
  files: { path: string; kind: string; patch: string; added: number; removed: number }[];
};

async function diff(codebase: Codebase, ...names: string[]): Promise<Diff> {
  const run = await codebase.claw('diff', ...names);
  expect(run).toMatchObject({ code: 0, json: { error: null, warnings: [] } });
  return run.json.data as Diff;
}

/** Returns stdout of `claw diff`, for `git apply` to read. */
function piped(codebase: Codebase, ...names: string[]): string {
  return execFileSync(process.execPath, [CLAW, 'diff', ...names, '--cwd', codebase.root], {
    encoding: 'utf8',
  });
}

function gitApply(codebase: Codebase, patch: string, ...options: string[]) {
  return spawnSync('git', ['apply', '--whitespace=nowarn', ...options], {
    cwd: codebase.root,
    encoding: 'utf8',
    input: patch,
  });
}

test('a planned undo shows what it takes back as patches, which git takes', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  const modify = { 'src/a.ts': [LINES, LINES.replace('line 2\n', 'line two\n')] } as const;
  addSkill(codebase, 'telegram', { modify, add: { 'src/new.ts': 'new\n' } });
  await codebase.claw('apply', 'telegram');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('line 30', 'mine') });
  const planned = await codebase.claw('plan', 'undo', '--diff');
  const { patches } = planned.json.data as { patches: Diff['files'] };
  expect(patches.map(({ path, kind }) => [path, kind]).sort()).toEqual([
    ['src/a.ts', 'modify'],
    ['src/new.ts', 'delete'],
  ]);
  expect(gitApply(codebase, patches.map(({ patch }) => patch).join('')).status).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('line 30', 'mine'));
  expect((await codebase.claw('plan', 'undo')).json.data).not.toHaveProperty('patches');
});

test('a skill’s patch is what it changes here: taken back by git, the tree is as without it', async () => {
  await using codebase = temporaryCodebase(
    {
      'src/a.ts': LINES,
      'src/old name.ts': LINES,
      'gone.txt': 'gone',
      'run.sh': 'echo\n',
      'end.txt': 'one\ntwo',
      '.env.example': 'NAME=a\n',
    },
    { git: true },
  );
  addSkill(codebase, 'telegram', {
    add: {
      'src/new.ts': 'new\n',
      'empty.txt': '',
      'tool.sh': { text: '#!/bin/sh\n', mode: 0o755 },
    },
    base: { 'src/old name.ts': LINES, 'gone.txt': 'gone' },
    modify: {
      'src/a.ts': [LINES, LINES.replace('line 2\n', '').replace('line 20', 'LINE 20')],
      'src/new name.ts': [LINES, LINES.replace('line 30\n', 'line 30')],
      'run.sh': ['echo\n', { text: 'echo\n', mode: 0o755 }],
      'end.txt': ['one\ntwo', 'one\ntwo\nthree'],
    },
    manifest: {
      file_ops: [
        { type: 'rename', from: 'src/old name.ts', to: 'src/new name.ts' },
        { type: 'delete', path: 'gone.txt' },
      ],
      structured: { env_additions: ['TELEGRAM_TOKEN'] },
    },
  });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'telegram')).json.error).toBe(null);
  const { layer, files } = await diff(codebase, 'telegram');
  expect(layer).toBe('telegram');
  expect(files.map(({ path, kind, added, removed }) => [path, kind, added, removed])).toEqual([
    ['.env.example', 'modify', 2, 0],
    ['empty.txt', 'add', 0, 0],
    ['end.txt', 'modify', 2, 1],
    ['gone.txt', 'delete', 0, 1],
    ['run.sh', 'modify', 0, 0],
    ['src/a.ts', 'modify', 1, 2],
    ['src/new name.ts', 'rename', 1, 1],
    ['src/new.ts', 'add', 1, 0],
    ['tool.sh', 'add', 1, 0],
  ]);
  const patch = piped(codebase, 'telegram');
  expect(patch).toBe(files.map((file) => file.patch).join(''));
  expect(gitApply(codebase, patch, '-R', '--check')).toMatchObject({ status: 0, stderr: '' });
  expect(gitApply(codebase, patch, '-R')).toMatchObject({ status: 0, stderr: '' });
  const { 'src/': _, ...rest } = codebase.tree();
  const { 'src/': __, ...wanted } = before;
  expect(rest).toEqual(wanted);
});

test('a patch reads as git’s own does', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b' }, { git: true });
  addSkill(codebase, 'demo', {
    modify: {
      'src/a.ts': [LINES, LINES.replace('line 4\n', 'LINE 4\n').replace('line 25\n', '')],
      'b.txt': ['b', 'b\n'],
    },
  });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  const patches = (await diff(codebase, 'demo')).files.map(({ patch }) => patch);
  expect(patches).toEqual([
    `\
diff --git a/b.txt b/b.txt
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-b
\\ No newline at end of file
+b
`,
    `\
diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,7 +1,7 @@
 line 1
 line 2
 line 3
-line 4
+LINE 4
 line 5
 line 6
 line 7
@@ -22,7 +22,6 @@
 line 22
 line 23
 line 24
-line 25
 line 26
 line 27
 line 28
`,
  ]);
});

test('the patches of two skills each have their own lines in the present file, and shared settings are in neither', async () => {
  await using codebase = temporaryCodebase(
    { 'src/a.ts': LINES, '.env.example': 'NAME=a\n' },
    { git: true },
  );
  for (const [skill, line] of [
    ['alpha', 3],
    ['beta', 5],
  ] as const) {
    addSkill(codebase, skill, {
      modify: {
        'src/a.ts': [LINES, LINES.replace(`line ${line}\n`, `line ${line} of ${skill}\n`)],
      },
      manifest: { structured: { env_additions: ['SHARED', `OF_${skill.toUpperCase()}`] } },
    });
  }
  expect((await codebase.claw('apply', 'alpha', 'beta')).json.error).toBe(null);
  for (const [skill, other] of [
    ['alpha', 'beta'],
    ['beta', 'alpha'],
  ] as const) {
    const patch = piped(codebase, skill);
    expect(patch).toContain(`+line ${skill === 'alpha' ? 3 : 5} of ${skill}\n`);
    expect(patch).toContain(`+OF_${skill.toUpperCase()}=`);
    expect(patch).not.toMatch(new RegExp(`^[+-].*(${other}|SHARED)`, 'im'));
    expect(gitApply(codebase, patch, '-R', '--check')).toMatchObject({ status: 0, stderr: '' });
  }
  codebase.write({
    'src/a.ts': codebase.read('src/a.ts').replace('line 7\n', 'customised\n'),
    '.env.example': `${codebase.read('.env.example')}MINE=1\n`,
  });
  expect((await codebase.claw('customize', 'On top')).json.error).toBe(null);
  const patch = piped(codebase, 'beta');
  expect(patch).toContain(' customised\n');
  expect(gitApply(codebase, patch, '-R', '--check')).toMatchObject({ status: 0, stderr: '' });
});

test('what a skill changes in a file that a later one moves is found where it is now', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'alpha', {
    modify: { 'src/a.ts': [LINES, LINES.replace('line 3\n', 'three\n')] },
  });
  addSkill(codebase, 'mover', {
    base: { 'src/a.ts': LINES },
    modify: { 'lib/a.ts': [LINES, LINES.replace('line 20\n', 'twenty\n')] },
    manifest: { file_ops: [{ type: 'move', from: 'src/a.ts', to: 'lib/a.ts' }] },
  });
  expect((await codebase.claw('apply', 'alpha', 'mover')).json.error).toBe(null);
  const composed = codebase.tree();
  const summary = async (name: string) =>
    (await diff(codebase, name)).files.map(({ path, kind, added }) => [path, kind, added]);
  expect(await summary('alpha')).toEqual([['lib/a.ts', 'modify', 1]]);
  expect(await summary('mover')).toEqual([['lib/a.ts', 'rename', 1]]);
  for (const name of ['mover', 'alpha']) {
    const patch = piped(codebase, name);
    expect(gitApply(codebase, patch, '-R')).toMatchObject({ status: 0, stderr: '' });
    expect(gitApply(codebase, patch)).toMatchObject({ status: 0, stderr: '' });
    expect(codebase.tree()).toEqual(composed);
  }
});

test('a customisation’s patch goes by its name, and the owner’s unrecorded edits by none', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  addSkill(codebase, 'demo', {
    modify: { 'src/a.ts': [LINES, LINES.replace('line 3\n', 'three\n')] },
  });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  expect(await diff(codebase)).toEqual({ layer: 'your edits', files: [] });
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('line 28', 'customised') });
  expect((await codebase.claw('customize', 'Other words')).code).toBe(0);
  const composed = codebase.tree();
  codebase.write({
    'src/a.ts': codebase.read('src/a.ts').replace('line 15', 'mine'),
    'new.txt': 'new\n',
  });
  codebase.remove('b.txt');
  chmodSync(codebase.path('src/a.ts'), 0o755);
  const custom = await diff(codebase, 'custom-other-words');
  expect(custom.files).toMatchObject([{ path: 'src/a.ts', added: 1, removed: 1 }]);
  expect(custom.files[0]?.patch).toContain('-line 28\n+customised\n');
  const own = await diff(codebase);
  expect(own.files.map(({ path, kind }) => [path, kind])).toEqual([
    ['b.txt', 'delete'],
    ['new.txt', 'add'],
    ['src/a.ts', 'modify'],
  ]);
  expect(own.files[2]?.patch).toContain('old mode 100644\nnew mode 100755\n');
  expect(gitApply(codebase, piped(codebase), '-R')).toMatchObject({ status: 0, stderr: '' });
  expect(codebase.tree()).toEqual(composed);
});

test('line ends are part of a patch, and bytes that are not text are not in it', async () => {
  const crlf = 'one\r\ntwo\r\nthree\r\n';
  await using codebase = temporaryCodebase(
    { 'crlf.txt': crlf, 'a.bin': Buffer.from([0, 1]), 'latin1.txt': Buffer.from([0xe9, 10]) },
    { git: true },
  );
  codebase.git('config', 'core.autocrlf', 'false');
  expect((await codebase.claw('init')).code).toBe(0);
  codebase.write({
    'crlf.txt': crlf.replace('two\r\n', 'two\n'),
    'a.bin': Buffer.from([0, 2]),
    'latin1.txt': Buffer.from([0xe8, 10]),
  });
  const { files } = await diff(codebase);
  expect(files.map(({ patch }) => patch)).toEqual([
    'diff --git a/a.bin b/a.bin\nBinary files a/a.bin and b/a.bin differ\n',
    'diff --git a/crlf.txt b/crlf.txt\n--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,3 +1,3 @@\n' +
      ' one\r\n-two\r\n+two\n three\r\n',
    'diff --git a/latin1.txt b/latin1.txt\nBinary files a/latin1.txt and b/latin1.txt differ\n',
  ]);
  expect(gitApply(codebase, files[1]?.patch ?? '', '-R', '--check')).toMatchObject({ status: 0 });
});

test('before the first command, edits are shown on the release in git', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'a\n', 'b.ts': 'b\n' }, { git: true });
  codebase.write({ 'a.ts': 'edited\n', 'c.ts': 'c\n' });
  const { files } = await diff(codebase);
  expect(files.map(({ path, kind }) => [path, kind])).toEqual([
    ['a.ts', 'modify'],
    ['c.ts', 'add'],
  ]);
  expect(files[0]?.patch).toContain('-a\n+edited\n');
});

test('without git, there is nothing to compare with before the first command', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'a\n' });
  expect((await codebase.claw('diff')).json.error?.code).toBe('NOT_INITIALISED');
});

test('a name that is not applied is refused with the nearest ones', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'a\n' }, { git: true });
  expect((await codebase.claw('diff', 'telegram')).json.error?.code).toBe('NOT_INITIALISED');
  addSkill(codebase, 'telegram', { add: { 'b.ts': 'b\n' } });
  expect((await codebase.claw('apply', 'telegram')).code).toBe(0);
  const run = await codebase.claw('diff', 'telegramm');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'SKILL_NOT_APPLIED' } } });
  expect(run.json.error?.message).toContain('Applied: telegram.');
});
