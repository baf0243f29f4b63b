import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineVerbs } from '../../../packages/claw/src/cli/engine/engine-verbs.ts';
import { mergeVerbs } from '../../../packages/claw/src/cli/merge/merge-verbs.ts';
import { hasPending } from '../../../packages/claw/src/transaction/recover.js';
import { assistantVerbs } from '../../../src/cli/assistant/assistant-verbs.ts';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
} from '../../../src/testing/claw/codebase.ts';
import {
  type Attack,
  CLONE,
  GIT_FOLDERS,
  HOME_FILES,
  JOURNALS,
  LINKS,
  plantSettings,
} from './attacks.ts';

// Run by `npm run hostile-clones` as well. Each clone is planted as it would come out of an archive, which can
// hold everything that a repository can, and `.git/config` too.

const ownHome = process.env['HOME'];
const places: string[] = [];
beforeAll(() => {
  process.env['npm_config_cache'] = join(tmpdir(), 'claw-hostile-npm');
});
afterAll(() => {
  process.env['HOME'] = ownHome;
  delete process.env['npm_config_cache'];
  for (const place of places) fs.rmSync(place, { recursive: true, force: true });
});

/** Makes a home with a clone in it, and makes it the home of this process. */
function homeWithClone(
  attacks: readonly Attack[],
  prepare: (codebase: Codebase) => void = () => {},
) {
  const home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-home-')));
  places.push(home);
  process.env['HOME'] = home;
  for (const [path, text] of Object.entries(HOME_FILES)) {
    fs.mkdirSync(dirname(join(home, path)), { recursive: true });
    fs.writeFileSync(join(home, path), text);
  }
  const root = join(home, CLONE);
  fs.mkdirSync(root, { recursive: true });
  const codebase = openCodebase(root);
  codebase.write({ 'app.mjs': 'one\n', 'src/a.txt': 'a\n', 'keys/authorized_keys': 'STRANGER\n' });
  codebase.git('init', '--quiet', '--initial-branch=main');
  addSkill(codebase, 'demo', { add: { 'demo.txt': 'd\n' } });
  commitAll(codebase, 'first');
  prepare(codebase);
  for (const { plant } of attacks) plant(root);
  return { home, codebase };
}

/** Returns every entry outside the clone, with its text; without what claw and npm keep for their user. */
function around(home: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (folder: string) => {
    for (const entry of fs.readdirSync(join(home, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (path === CLONE || /^\.(local|npm|cache|config)$/.test(path)) continue;
      // Two attacks together may plant a link out here, through one of the first.
      if (entry.isSymbolicLink()) found[path] = `link to ${fs.readlinkSync(join(home, path))}`;
      else if (entry.isDirectory()) {
        found[path] = 'folder';
        walk(path);
      } else found[path] = fs.readFileSync(join(home, path), 'utf8');
    }
  };
  walk('');
  return found;
}

/** Arguments of each verb that can be run here; those of the assistant itself know no such folder. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  ...{
    init: [],
    adopt: ['HEAD', '--by', 'commit'],
    apply: ['demo'],
    remove: ['demo'],
    upgrade: [],
    replay: [],
    update: ['HEAD'],
  },
  ...{ customize: ['mine'], rebase: [], pack: ['mine'], plan: ['apply', 'demo'], status: [] },
  ...{
    list: [],
    show: ['demo'],
    log: [],
    verify: [],
    matrix: ['demo', '--no-proof'],
    why: ['app.mjs'],
    diff: [],
    doctor: ['--offline'],
  },
  ...{ conflicts: [], resolve: ['app.mjs', '--ours'], continue: [], resolutions: [], abort: [] },
  ...{ undo: [], recover: [] },
};
/** Verbs that change no file of the project, and begin nothing. */
const LOOKING = [
  'plan',
  'status',
  'list',
  'show',
  'log',
  'verify',
  'why',
  'diff',
  'doctor',
  'conflicts',
  'resolutions',
];

async function run(codebase: Codebase, verb: string) {
  return await codebase.claw(verb, ...(CALLS[verb] ?? []));
}

for (const attack of [...JOURNALS, ...LINKS]) {
  test(`${attack.name}: no verb changes anything outside, and none carries it out`, async () => {
    for (const verb of ['status', 'apply', 'undo', 'recover']) {
      const { home, codebase } = homeWithClone([attack]);
      const before = { home: around(home), tree: codebase.tree() };
      await run(codebase, verb);
      expect(around(home), verb).toEqual(before.home);
      if (verb !== 'apply') expect(codebase.tree(), verb).toEqual(before.tree);
      expect(codebase.has('owned.txt'), verb).toBe(false);
      expect(codebase.read('app.mjs'), verb).toBe('one\n');
      expect(fs.existsSync('/tmp/claw-owned'), verb).toBe(false);
    }
  });
}

test('a foreign journal is reported and left alone until the owner decides', async () => {
  const [attack] = JOURNALS.filter(({ name }) => name.endsWith('makes a file of the project'));
  const { codebase } = homeWithClone(attack ? [attack] : []);
  const looked = await run(codebase, 'status');
  expect(looked).toMatchObject({ code: 0 });
  expect(looked.json.warnings.join()).toMatch(
    /did not write in this folder.*--keep-mine.*--adopt/s,
  );
  expect(await run(codebase, 'apply')).toMatchObject({
    code: 6,
    json: { error: { code: 'RECOVERY_NEEDS_DECISION' } },
  });
  expect(hasPending(codebase.root)).toBe(true);
  expect((await codebase.claw('recover', '--keep-mine')).code).toBe(0);
  expect(codebase.has('owned.txt')).toBe(false);
  expect((await run(codebase, 'apply')).json).toMatchObject({ outcome: 'done' });
});

test('the owner of a folder that was copied can adopt what claw wrote before', async () => {
  const { home, codebase } = homeWithClone([]);
  expect((await run(codebase, 'apply')).code).toBe(0);
  const copy = join(home, 'downloads/copy');
  fs.cpSync(codebase.root, copy, { recursive: true });
  const copied = openCodebase(copy);
  expect((await copied.claw('undo')).json.error).toMatchObject({
    code: 'NOTHING_TO_UNDO',
    message: expect.stringContaining('claw recover --adopt'),
  });
  expect(copied.has('demo.txt')).toBe(true);
  expect((await copied.claw('recover', '--adopt')).json).toMatchObject({ outcome: 'done' });
  expect((await copied.claw('undo')).json).toMatchObject({ outcome: 'done' });
  expect(copied.has('demo.txt')).toBe(false);
});

test('a folder that was moved is still its own', async () => {
  const { home, codebase } = homeWithClone([]);
  expect((await run(codebase, 'apply')).code).toBe(0);
  fs.renameSync(codebase.root, join(home, 'downloads/moved'));
  const moved = openCodebase(join(home, 'downloads/moved'));
  expect((await moved.claw('undo')).json).toMatchObject({ outcome: 'done' });
});

test('git and npm alone do run programs that these settings name', async () => {
  const { home, codebase } = homeWithClone([], (clone) => {
    const dependencies = { 'claw-none': 'git+ssh://git@localhost/x/y.git' };
    clone.write({ 'package.json': JSON.stringify({ name: 'x', version: '1.0.0', dependencies }) });
    commitAll(clone, 'second');
  });
  fs.mkdirSync(join(home, 'ran'));
  plantSettings(codebase.root, home);
  const oid = codebase.git('rev-parse', 'HEAD:app.mjs').trim();
  fs.rmSync(join(home, 'ran'), { recursive: true });
  fs.mkdirSync(join(home, 'ran'));
  const cat = ['cat-file', '--filters', '--path=app.mjs', oid];
  spawnSync('git', cat, { cwd: codebase.root, stdio: 'ignore' });
  spawnSync('git', cat, { cwd: codebase.root, stdio: 'ignore' });
  // git reads a file again, through its filter, where its time is another than in the index.
  fs.utimesSync(codebase.path('app.mjs'), new Date(0), new Date(0));
  spawnSync('git', ['status'], { cwd: codebase.root, stdio: 'ignore' });
  // It tries again for minutes, as this git answers nothing.
  const npm = spawn('npm', ['install', '--ignore-scripts'], {
    cwd: codebase.root,
    stdio: 'ignore',
  });
  const ran = () => fs.readdirSync(join(home, 'ran'));
  await expect.poll(ran).toContain('npm-git-quoted');
  npm.kill('SIGKILL');
  expect(ran()).toEqual(expect.arrayContaining(['smudge', 'clean', 'fsmonitor']));
});

test('no verb runs a program that settings of git or npm name', async () => {
  for (const verb of Object.keys(CALLS)) {
    const { home, codebase } = homeWithClone([], (clone) => {
      addSkill(clone, 'demo', {
        add: { 'demo.txt': 'd\n' },
        manifest: {
          structured: { npm_dependencies: { 'claw-none': 'git+ssh://git@localhost/x/y.git' } },
        },
      });
      const allowScripts = { 'claw-none': true };
      clone.write({
        'package.json': JSON.stringify({ name: 'x', version: '1.0.0', allowScripts }),
      });
      commitAll(clone, 'second');
    });
    fs.mkdirSync(join(home, 'ran'));
    plantSettings(codebase.root, home);
    // git reads a file again, through its filter, where its time is another than in the index.
    fs.utimesSync(codebase.path('app.mjs'), new Date(0), new Date(0));
    await run(codebase, verb);
    expect(fs.readdirSync(join(home, 'ran')), verb).toEqual([]);
  }
});

test('law: in any mixture of hostile parts, no verb changes anything outside, and looking changes nothing inside', async () => {
  const runs = Number(process.env['CLAW_RUNS'] ?? 60);
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...JOURNALS, ...LINKS), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...Object.keys(CALLS)),
      async (attacks, verb) => {
        const { home, codebase } = homeWithClone([]);
        for (const { plant } of attacks) {
          try {
            plant(codebase.root);
          } catch {
            // Two of them want the same place.
          }
        }
        const before = { home: around(home), tree: codebase.tree() };
        await run(codebase, verb);
        expect(around(home), verb).toEqual(before.home);
        if (LOOKING.includes(verb)) expect(codebase.tree(), verb).toEqual(before.tree);
        expect(codebase.has('owned.txt')).toBe(false);
        expect(codebase.read('app.mjs')).toBe('one\n');
      },
    ),
    { numRuns: runs },
  );
});

for (const { name, plant } of GIT_FOLDERS) {
  test(`${name}: adopt writes nothing outside`, async () => {
    const { home, codebase } = homeWithClone([]);
    for (const place of ['upstream', 'other']) {
      codebase.git('clone', '--quiet', '--no-hardlinks', '.', join(home, place));
    }
    const upstream = openCodebase(join(home, 'upstream'));
    upstream.write({ 'src/a.txt': 'newer\n' });
    commitAll(upstream, 'second');
    upstream.git('tag', 'v9.0.0');
    fs.writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = owner\n');
    plant(codebase.root);
    const before = around(home);
    const { json } = await codebase.claw('adopt', '../../upstream');
    expect(around(home)).toEqual(before);
    expect(json.error?.code).toBe('LINK_REFUSED');
  });
}

test('a work tree of a repository of the owner is adopted there', async () => {
  const { home, codebase } = homeWithClone([]);
  codebase.git('clone', '--quiet', '--no-hardlinks', '.', join(home, 'upstream'));
  codebase.git('worktree', 'add', '--quiet', join(home, 'tree'));
  expect((await openCodebase(join(home, 'tree')).claw('adopt', '../upstream')).code).toBe(0);
  expect(codebase.git('remote')).toContain('upstream');
});

const PAGE = fs.readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');

/** Returns the rows of the page's table: verb → what it runs. */
function rowsOfPage(): ReadonlyMap<string, string> {
  const rows = PAGE.split('\n').flatMap((line) => {
    const [, verbs, runs] = /^\| (`.+?`) \| (.+?) \|$/.exec(line) ?? [];
    return (verbs?.match(/[\w-]+/g) ?? []).map((verb) => [verb, runs ?? ''] as const);
  });
  return new Map(rows);
}

test('the page of security has a row for each verb', () => {
  const discovered = fs
    .readdirSync(join(import.meta.dirname, '../../../src/verbs'))
    .flatMap((name) => (/^(?!.*\.test\.)(\w+)\.ts$/.exec(name)?.[1] ? [name.slice(0, -3)] : []));
  const verbs = Object.keys({ ...engineVerbs, ...mergeVerbs, ...assistantVerbs });
  expect([...rowsOfPage().keys()].sort()).toEqual([...new Set([...verbs, ...discovered])].sort());
});

test('what the page of security says of checks is what happens', async () => {
  const rows = rowsOfPage();
  const running: string[] = [];
  for (const verb of Object.keys(CALLS)) {
    const { codebase } = homeWithClone([]);
    if (verb !== 'apply') await run(codebase, 'apply');
    codebase.write({
      'claw.config.yaml': 'check: [node looked-at.mjs]\n',
      'looked-at.mjs': '',
      'src/a.txt': 'edited\n',
    });
    const { stdout, stderr } = await run(codebase, verb);
    if (!/check: node looked-at/.test(stdout + stderr)) continue;
    running.push(verb);
    expect(rows.get(verb), verb).toContain('checks');
  }
  expect(running).toEqual(expect.arrayContaining(['apply', 'remove']));
});
