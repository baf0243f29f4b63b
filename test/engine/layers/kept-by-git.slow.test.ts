import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

/** Files that steer git in their own folder, and files that they and the project's rules are about. */
const CORE = {
  '.gitignore': '*.log\ndist/\n/cache/\n.claw/cache/\n',
  '.gitattributes': '*.txt text eol=crlf\n*.id ident\n* text=auto\n',
  'src/a.txt': LINES.replaceAll('\n', '\r\n'),
  'src/b.id': '$Id$\n',
  'src/unix.bin': 'one\r\ntwo\n',
  'dist/kept.js': 'tracked by force\n',
  'src/cache/c.ts': 'c\n',
  'src/pending/p.ts': 'p\n',
  'src/tx/t.ts': 't\n',
  'logs/.gitignore': '*\n!.gitignore\n',
  'logs/first.md': 'tracked by force\n',
  'odd/.gitattributes': '* -text\n',
  'odd/.gitignore.kept': 'a name that looks like one of ours\n',
  'odd/lf.txt': LINES,
};

async function installation(): Promise<Codebase> {
  const codebase = temporaryCodebase(CORE);
  codebase.git('init', '--quiet', '--initial-branch=main');
  codebase.git('config', 'core.safecrlf', 'false');
  codebase.git('add', '--all', '--force');
  codebase.git('commit', '--quiet', '-m', 'first');
  codebase.git('tag', 'v1.0.0');
  // Once more, as git itself writes them.
  for (const path of Object.keys(CORE)) codebase.remove(path);
  codebase.git('checkout', '--', '.');
  const nested = 'logs/.gitignore';
  addSkill(codebase, 'demo', {
    add: { 'more/.gitignore': '*\n', 'more/hidden.md': 'hidden\n' },
    modify: {
      'src/a.txt': [LINES, LINES.replace('one', 'ONE')],
      [nested]: [CORE[nested], `${CORE[nested]}!first.md\n`],
    },
  });
  const run = await codebase.claw('apply', 'demo');
  expect(run.json.error).toBe(null);
  return codebase;
}

/** The project itself: git's rules for line ends hold for the sources of skills as well. */
function treeOf(codebase: Codebase): Record<string, string> {
  const files = Object.entries(codebase.tree());
  return Object.fromEntries(files.filter(([path]) => !path.startsWith('skills/')));
}

function cloneOf(codebase: Codebase, ...options: string[]): Codebase {
  const root = mkdtempSync(join(tmpdir(), 'claw-clone-'));
  const clone = openCodebase(root);
  clone.git('clone', '--quiet', ...options, codebase.root, '.');
  return clone;
}

test('what git carries of .claw is the same to the byte, whatever the core’s own rules say', async () => {
  await using codebase = await installation();
  commitAll(codebase, 'installed');
  for (const options of [[], ['-c', 'core.autocrlf=true'], ['-c', 'core.eol=crlf']]) {
    await using clone = cloneOf(codebase, ...options);
    expect(clone.state()).toEqual(codebase.state());
    expect((await clone.claw('verify')).json.data).toMatchObject({ damaged: [], recomposed: [] });
  }
});

test('a clone of the committed tree has nothing to replay and is clean', async () => {
  await using codebase = await installation();
  codebase.git('add', '--all', '--force', '.');
  codebase.git('reset', '--quiet', '.claw/cache', '.claw/backup', '.claw/lock.db');
  codebase.git('commit', '--quiet', '-m', 'installed');
  await using clone = cloneOf(codebase);
  expect((await clone.claw('replay')).json).toMatchObject({ outcome: 'nothing', error: null });
  expect(treeOf(clone)).toEqual(treeOf(codebase));
  expect((await clone.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await clone.claw('remove', 'demo')).json).toMatchObject({ outcome: 'done' });
  expect((await clone.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('a clone with the bare core and .claw replays to the same tree', async () => {
  await using codebase = await installation();
  codebase.git('add', 'skills', '.claw');
  codebase.git('commit', '--quiet', '-m', 'only the state');
  await using clone = cloneOf(codebase);
  expect(clone.has('more')).toBe(false);
  const run = await clone.claw('replay');
  expect(run.json).toMatchObject({ outcome: 'done', error: null });
  expect(treeOf(clone)).toEqual(treeOf(codebase));
  expect(clone.state()).toEqual(codebase.state());
  expect((await clone.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('with state.yaml alone the core comes from git, with the bytes of a checkout', async () => {
  await using codebase = await installation();
  await using clone = cloneOf(codebase);
  cpSync(codebase.path('skills'), clone.path('skills'), { recursive: true });
  clone.write({ '.claw/state.yaml': codebase.read('.claw/state.yaml') });
  expect((await clone.claw('replay')).json).toMatchObject({ outcome: 'done', error: null });
  expect(treeOf(clone)).toEqual(treeOf(codebase));
  expect(clone.state()).toEqual(codebase.state());
});

test('undo takes back what was kept under another name', async () => {
  await using codebase = await installation();
  const state = codebase.state();
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.state()).toEqual(state);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('only what belongs to this machine is ignored in .claw', async () => {
  await using codebase = await installation();
  cpSync(codebase.path('src/cache'), codebase.path('.claw/pending'), { recursive: true });
  const ignored = codebase.git('status', '--porcelain', '--ignored=matching', '.claw');
  expect(
    ignored
      .split('\n')
      .filter((line) => line.startsWith('!!'))
      .sort(),
  ).toEqual(['backup/', 'cache/', 'pending/', 'tx/'].map((name) => `!! .claw/${name}`));
});

test('git add --all on a branch without claw takes nothing private: no backup, no waiting command', async () => {
  await using codebase = await installation();
  const clash = { modify: { 'src/a.txt': [LINES, LINES.replace('four', 'FOUR')] } } as const;
  addSkill(codebase, 'clash', clash);
  commitAll(codebase, 'installed');
  codebase.write({ 'src/a.txt': codebase.read('src/a.txt').replace('four', 'vier') });
  expect((await codebase.claw('apply', 'clash')).json).toMatchObject({ outcome: 'blocked' });
  // What ignores them on the other branch leaves with it.
  codebase.git('checkout', '--quiet', '--force', 'v1.0.0');
  expect(codebase.has('.claw/.gitignore')).toBe(false);
  for (const kept of ['backup', 'pending']) expect(codebase.has(`.claw/${kept}`)).toBe(true);
  codebase.git('add', '--all');
  const staged = codebase.git('diff', '--cached', '--name-only').split('\n');
  expect(staged.filter((path) => path.startsWith('.claw/'))).toEqual([]);
});
