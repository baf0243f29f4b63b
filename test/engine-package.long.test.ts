import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildPackage, packPackage } from '../packages/claw/build/package.ts';
import { type Codebase, type Files, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const HOME = join(import.meta.dirname, '..');
const PLACE = fs.mkdtempSync(join(tmpdir(), 'claw-engine-'));
const tarball = { merge: '', claw: '' };
const built: Record<'merge' | 'claw', Built> = { merge: { inputs: [] }, claw: { inputs: [] } };

beforeAll(async () => {
  for (const which of ['merge', 'claw'] as const) {
    const folder = join(PLACE, which);
    fs.mkdirSync(folder);
    built[which] = await buildPackage(folder, which);
    tarball[which] = packPackage(folder, PLACE);
  }
});
afterAll(() => fs.rmSync(PLACE, { recursive: true, force: true }));

/** Files of ours that may be part of the package. */
const OURS = /^packages\/(merge|claw)\/src\//;

test('is made of the engine and its verbs, and of nothing of the assistant', () => {
  expect(built.claw.inputs.filter((path) => !OURS.test(path) && path !== '<stdin>')).toEqual([]);
  const { dependencies = {} } = JSON.parse(read('package.json'));
  expect(dependencies).toEqual({});
  const help = run(PLACE, [join(PLACE, 'claw/claw.js'), '--help']).stdout;
  expect(help).not.toMatch(/assistant|chat|groups|container/i);
});

test('the published types need no other packages than Node’s', async () => {
  await using codebase = temporaryCodebase({
    'package.json': '{ "type": "module" }',
    'use.ts': `import { type DataOf, mergeText, type VerbResult } from '@patchclaw/claw';
export const conflicts: number = mergeText({ base: '', ours: '', theirs: '' }).conflicts;
export const edits = (result: VerbResult<'status'>): DataOf<'status'>['edits'] => result.data?.edits ?? [];
// @ts-expect-error It is a list, so that types that fell to any would be seen.
export const none: number = edits;
`,
  });
  install(codebase.root);
  for (const name of ['@types/node', 'undici-types']) {
    fs.cpSync(join(HOME, 'node_modules', name), codebase.path(`node_modules/${name}`), {
      recursive: true,
    });
  }
  const options =
    '--noEmit --strict --module nodenext --target es2024 --lib es2024,esnext.disposable';
  const tsc = join(HOME, 'node_modules/.bin/tsc');
  const args = [tsc, ...options.split(' '), '--types', 'node', '--ignoreConfig', 'use.ts'];
  expect(run(codebase.root, args)).toMatchObject({ stdout: '', status: 0 });
});

test('a folder without git: apply, update, undo, remove, replay', async () => {
  await using codebase = temporaryCodebase({
    'package.json': '{ "name": "plain", "version": "1.0.0", "private": true, "type": "module" }',
    ...program('js', '// '),
  });
  install(codebase.root);
  await cycle(codebase.root, 'js', codebase.path('node_modules/.bin/claw'), '// ');
  mergesAsLibrary(codebase);
});

test('a Python repository, the engine installed globally', async () => {
  await using codebase = temporaryCodebase(program('py', '# '), { git: true });
  const prefix = join(PLACE, 'global');
  npm(PLACE, ['install', '--global', '--prefix', prefix, tarball.claw, tarball.merge]);
  await cycle(codebase.root, 'py', join(prefix, 'bin/claw'), '# ');
  expect(codebase.git('status', '--porcelain', '--', 'app.py')).toBe('');
  mergesForGit(codebase, join(prefix, 'bin/patchclaw-merge'));
  expect(fs.existsSync(codebase.path('node_modules'))).toBe(false);
});

test('a workspace of pnpm', async () => {
  await using codebase = temporaryCodebase(
    {
      'package.json': '{ "name": "root", "version": "1.0.0", "private": true }',
      'pnpm-workspace.yaml': 'packages: [packages/*]\n',
      '.gitignore': 'node_modules/\n',
      'packages/one/package.json': '{ "name": "one", "version": "1.0.0" }',
      ...program('js', '// '),
    },
    { git: true },
  );
  const pnpm = join(PLACE, 'pnpm');
  fs.mkdirSync(pnpm);
  npm(pnpm, ['install', '--prefix', pnpm, 'pnpm@10']);
  const args = [
    join(pnpm, 'node_modules/pnpm/bin/pnpm.cjs'),
    'add',
    '-w',
    '-D',
    tarball.claw,
    tarball.merge,
  ];
  const added = run(codebase.root, [...args, '--store-dir', join(PLACE, 'store')]);
  expect(added).toMatchObject({ status: 0 });
  codebase.git('add', '-A');
  codebase.git('commit', '-qm', 'claw');
  codebase.git('tag', '-f', 'v1.0.0');
  await cycle(codebase.root, 'js', codebase.path('node_modules/.bin/claw'), '// ');
  mergesAsLibrary(codebase);
});

/** Two additions at the end of a file of settings, on which git itself stops. */
const SIDES = { base: 'A=1\n', ours: 'A=1\nOURS=1\n', theirs: 'A=1\nTHEIRS=1\n' };
const BOTH = 'A=1\nOURS=1\nTHEIRS=1\n';

function mergesAsLibrary(codebase: Codebase): void {
  const program = `import { mergeText } from '@patchclaw/merge';
    console.log(JSON.stringify(mergeText(${JSON.stringify(SIDES)}, { path: '.env.example' })));`;
  codebase.write({ 'merges.mjs': program });
  const { stdout, stderr } = run(codebase.root, ['merges.mjs']);
  expect(JSON.parse(stdout || stderr)).toEqual({ text: BOTH, conflicts: 0 });
}

function mergesForGit(codebase: Codebase, bin: string): void {
  const commit = (text: string) => {
    codebase.write({ '.env.example': text });
    codebase.git('add', '-A');
    codebase.git('commit', '-qm', 'settings');
  };
  commit(SIDES.base);
  codebase.git('switch', '-qc', 'theirs');
  commit(SIDES.theirs);
  codebase.git('switch', '-q', '-');
  commit(SIDES.ours);
  codebase.git(
    'config',
    'merge.ours.driver',
    `PATH=${dirname(process.execPath)}:$PATH ${bin} merge-driver run %O %A %B %L %P`,
  );
  codebase.git('config', 'merge.default', 'ours');
  codebase.git('merge', '-q', 'theirs');
  expect(codebase.read('.env.example')).toBe(BOTH);
}

/** A program whose lines a skill and a release change. */
function program(extension: string, comment: string): Files {
  const lines = Array.from({ length: 12 }, (_, n) => `${comment}line ${n + 1}\n`).join('');
  const app = `app.${extension}`;
  const skill = `skill: loud
version: 1.0.0
description: Is loud
core_version: 1.0.0
adds: [loud.${extension}]
modifies: [${app}]
`;
  return {
    [app]: lines,
    'skills/loud/manifest.yaml': skill,
    'skills/loud/SKILL.md': '---\nname: loud\ndescription: Is loud\n---\n',
    [`skills/loud/add/loud.${extension}`]: `${comment}loud\n`,
    [`skills/loud/base/${app}`]: lines,
    [`skills/loud/modify/${app}`]: lines.replace('line 3\n', 'LINE 3\n'),
  };
}

/** Runs the engine's verbs one after the other, and looks at the tree after each. */
async function cycle(root: string, extension: string, bin: string, comment: string): Promise<void> {
  const app = join(root, `app.${extension}`);
  const bare = fs.readFileSync(app, 'utf8');
  const claw = (...args: string[]) => {
    const printed = spawnSync(bin, ['--json', '--yes', '--no-install', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: environment(),
    });
    const result = JSON.parse(printed.stdout);
    expect([args, result.error, result.ok]).toEqual([args, null, true]);
    return result;
  };
  claw('init', '--release', '.', '--core-version', '1.0.0');
  expect(claw('apply', 'loud').outcome).toBe('done');
  expect(fs.readFileSync(app, 'utf8')).toBe(bare.replace('line 3', 'LINE 3'));
  // An edit of the owner's, which stays through all that follows.
  fs.appendFileSync(app, `${comment}mine\n`);
  const release = fs.mkdtempSync(join(PLACE, 'release-'));
  fs.cpSync(root, release, {
    recursive: true,
    filter: (path) => !/\/(node_modules|\.claw|\.git|loud\.\w+)$/.test(path),
  });
  fs.writeFileSync(join(release, `app.${extension}`), bare.replace('line 8', 'line eight'));
  claw('update', release);
  const updated = bare.replace('line 3', 'LINE 3').replace('line 8', 'line eight');
  expect(fs.readFileSync(app, 'utf8')).toBe(`${updated}${comment}mine\n`);
  claw('undo');
  expect(fs.readFileSync(app, 'utf8')).toBe(`${bare.replace('line 3', 'LINE 3')}${comment}mine\n`);
  claw('remove', 'loud');
  expect(fs.readFileSync(app, 'utf8')).toBe(`${bare}${comment}mine\n`);
  expect(fs.existsSync(join(root, `loud.${extension}`))).toBe(false);
  fs.writeFileSync(app, bare);
  claw('apply', 'loud');
  fs.writeFileSync(app, bare);
  fs.rmSync(join(root, `loud.${extension}`));
  expect(claw('replay').outcome).toBe('done');
  expect(fs.readFileSync(app, 'utf8')).toBe(bare.replace('line 3', 'LINE 3'));
  expect(claw('verify').outcome).toBe('done');
  claw('remove', 'loud');
}

function read(path: string): string {
  return fs.readFileSync(join(PLACE, 'claw', path), 'utf8');
}

function install(root: string): void {
  npm(root, ['install', '--offline', '--save-dev', tarball.claw, tarball.merge]);
}

function npm(cwd: string, args: readonly string[]): void {
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], {
    cwd,
    env: environment(),
    stdio: 'pipe',
  });
}

function run(cwd: string, args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8', env: environment() });
}

/** The Node of this process first, as claw's first line asks the path for one. */
function environment() {
  return { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };
}
