import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layer, temporaryProject, treeFile } from './testing/project.ts';
import { layOutView, sweepViews, viewPlaces } from './view.ts';

test('a view holds the planned tree and the tests of all layers', () => {
  using project = temporaryProject({ 'src/a.ts': 'a', 'src/b.ts': 'b', 'src/gone.ts': 'gone' });
  const view = layOutView(project.root, {
    paths: ['src/a.ts', 'src/b.ts', 'src/gone.ts'],
    changed: new Map([
      ['src/b.ts', treeFile('changed')],
      ['src/gone.ts', null],
      ['run.sh', { bytes: Buffer.from('run'), isExecutable: true }],
    ]),
    tests: [layer('telegram', 'a test')],
  });
  const read = (path: string) => fs.readFileSync(join(view.path, path), 'utf8');
  expect(read('src/a.ts')).toBe('a');
  expect(read('src/b.ts')).toBe('changed');
  expect(fs.existsSync(join(view.path, 'src/gone.ts'))).toBe(false);
  expect(fs.statSync(join(view.path, 'run.sh')).mode & 0o100).toBe(0o100);
  expect(read('skills/telegram/tests/a.test.js')).toBe('a test');
  view.remove();
  expect(fs.readdirSync(join(project.root, '.claw/tx'))).toEqual([]);
});

test('nothing in a view is the project’s own file', () => {
  using project = temporaryProject({ 'a.ts': 'a', 'b.ts': 'b' });
  const view = layOutView(project.root, {
    paths: ['a.ts', 'b.ts'],
    changed: new Map(),
    tests: [],
  });
  for (const path of ['a.ts', 'b.ts']) {
    const [own, copy] = [project.root, view.path].map((folder) => fs.statSync(join(folder, path)));
    expect(copy?.ino).not.toBe(own?.ino);
    expect(copy?.nlink).toBe(1);
  }
  fs.appendFileSync(join(view.path, 'a.ts'), 'changed');
  expect(fs.readFileSync(join(project.root, 'a.ts'), 'utf8')).toBe('a');
});

test('secrets, git’s folder and the engine’s own stay out', () => {
  using project = temporaryProject({
    '.env': 'KEY=1',
    '.env.local': 'KEY=2',
    '.env.example': 'KEY=',
    'packages/x/.env': 'KEY=3',
    '.git/config': 'c',
    '.claw/state.yaml': 's',
    'node_modules/a/index.js': 'n',
  });
  const paths = ['.env', '.env.local', '.env.example', 'packages/x/.env', '.git/config'];
  const view = layOutView(project.root, {
    paths: [...paths, '.claw/state.yaml', 'node_modules/a/index.js'],
    changed: new Map([['.env', treeFile('KEY=4')]]),
    tests: [],
  });
  expect(fs.readdirSync(view.path, { recursive: true })).toEqual(['.env.example']);
});

test('a file that vanished since it was listed is not there', () => {
  using project = temporaryProject({ 'a.ts': 'a' });
  const contents = { paths: ['a.ts', 'gone.ts'], changed: new Map(), tests: [] };
  const view = layOutView(project.root, contents);
  expect(fs.readdirSync(view.path)).toEqual(['a.ts']);
});

test('views of dead processes are swept, those of live ones are not', () => {
  using project = temporaryProject({});
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const own = layOutView(project.root, { paths: [], changed: new Map(), tests: [] });
  const parent = join(project.root, `.claw/tx/view-${process.ppid}-abc`);
  const stale = join(project.root, `.claw/tx/view-${dead}-abc`);
  for (const path of [parent, stale, `${stale}.home`]) fs.mkdirSync(path);
  sweepViews(project.root);
  const exists = () =>
    [own.path, parent, stale, `${stale}.home`].map((path) => fs.existsSync(path));
  expect(exists()).toEqual([true, true, false, false]);
  sweepViews(project.root, { own: true });
  expect(exists()).toEqual([false, true, false, false]);
});

test('nothing is swept that an unfinished transaction may still need', () => {
  using project = temporaryProject({ '.claw/tx/000001-apply/journal.json': '{}' });
  const own = layOutView(project.root, { paths: [], changed: new Map(), tests: [] });
  sweepViews(project.root, { own: true });
  expect(fs.existsSync(own.path)).toBe(true);
});

const hasMemory = viewPlaces('/').memory !== null;

test.skipIf(!hasMemory)('a tree that is to be tried is in memory, and swept there as well', () => {
  using project = temporaryProject({ 'src/a.ts': 'a' });
  const contents = { paths: ['src/a.ts'], changed: new Map(), tests: [], inMemory: true };
  const view = layOutView(project.root, contents);
  const { memory } = viewPlaces(project.root);
  expect(view.path.startsWith(`${memory}${process.pid}-`)).toBe(true);
  expect(fs.statSync(view.path).mode & 0o777).toBe(0o700);
  expect(fs.readFileSync(join(view.path, 'src/a.ts'), 'utf8')).toBe('a');
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const stale = `${memory}${dead}-abc`;
  fs.mkdirSync(stale);
  using other = temporaryProject({});
  sweepViews(other.root, { own: true });
  expect([fs.existsSync(view.path), fs.existsSync(stale)]).toEqual([true, true]);
  sweepViews(project.root);
  expect([fs.existsSync(view.path), fs.existsSync(stale)]).toEqual([true, false]);
  sweepViews(project.root, { own: true });
  expect(fs.existsSync(view.path)).toBe(false);
});

test('a tree that is too large for memory is laid out on disk', () => {
  using project = temporaryProject({ 'large.bin': '' });
  fs.truncateSync(join(project.root, 'large.bin'), 200 * 1024 * 1024);
  const contents = { paths: ['large.bin'], changed: new Map(), tests: [], inMemory: true };
  const view = layOutView(project.root, contents);
  expect(view.path.startsWith(viewPlaces(project.root).disk)).toBe(true);
  view.remove();
});
