import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type ClawRun,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

type Pair = AsyncDisposable & { readonly upstream: Codebase; readonly fork: Codebase };

/** Somebody's project without tags, and a fork with three commits, whose upstream has gone on since. */
function forked(): Pair {
  const upstream = temporaryCodebase({
    'package.json': versioned('1.2.0'),
    'src/a.txt': LINES,
    'src/b.txt': LINES,
    'docs/page.md': 'page\n',
    '.github/ci.yml': 'ci\n',
  });
  upstream.git('init', '--quiet', '--initial-branch=main');
  commitAll(upstream, 'upstream');
  const fork = openCodebase(realpathSync(mkdtempSync(join(tmpdir(), 'claw-codebase-'))));
  fork.git('clone', '--quiet', upstream.root, '.');
  fork.git('remote', 'remove', 'origin');
  fork.write({ 'src/a.txt': line('two', 'two, mine') });
  commitAll(fork, 'feat: greet warmly');
  fork.write({
    'src/a.txt': line('two', 'two, really mine', line('five', 'five of mine')),
    'src/own.txt': 'own\n',
  });
  commitAll(fork, 'fix: greet less');
  fork.write({ 'docs/page.md': 'my page\n' });
  commitAll(fork, 'docs: say so');
  upstream.write({
    'package.json': versioned('2.0.0'),
    'src/a.txt': line('five', 'FIVE', line('nine', 'NINE')),
    '.github/ci.yml': 'ci of 2.0\n',
  });
  commitAll(upstream, 'feat!: five is FIVE');
  upstream.write({ 'src/b.txt': line('one', 'ONE') });
  commitAll(upstream, 'docs: the new b');
  upstream.git('tag', 'v2.0.0');
  return {
    upstream,
    fork,
    async [Symbol.asyncDispose]() {
      await fork[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

async function adopt(fork: Codebase, ...args: string[]): Promise<ClawRun> {
  const before = fork.tree();
  const run = await fork.claw('adopt', ...args);
  expect(fork.tree()).toEqual(before);
  return run;
}

async function expectAllRecorded(fork: Codebase): Promise<void> {
  expect((await fork.claw('status')).json.data).toMatchObject({
    core: { version: '1.2.0' },
    edits: [],
  });
  expect((await fork.claw('verify')).code).toBe(0);
}

test.concurrent('adopt fetches upstream, records the edits since the histories part, and shows the next update', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  const { code, json } = await adopt(fork, upstream.root);
  const base = fork.git('rev-list', '--max-parents=0', 'HEAD').trim();
  expect(code).toBe(0);
  expect(json).toMatchObject({
    outcome: 'done',
    changes: [],
    data: {
      isAdopted: false,
      upstream: { ref: 'upstream/main', version: '2.0.0', remote: 'upstream', isNewRemote: true },
      base: { commit: base, version: '1.2.0' },
      commits: { count: 3, breaking: 0 },
      edits: [
        { path: 'docs/page.md', kind: 'modify' },
        { path: 'src/a.txt', kind: 'modify' },
        { path: 'src/own.txt', kind: 'add' },
      ],
      customisations: [
        {
          name: 'custom-my-edits-since-1-2-0',
          description: '3 commits since 1.2.0: docs: say so; fix: greet less; feat: greet warmly',
        },
      ],
      next: {
        commits: {
          count: 2,
          breaking: 1,
          shown: [{ subject: 'feat!: five is FIVE', isBreaking: true }, { isBreaking: false }],
        },
        files: 4,
        changedByBoth: ['src/a.txt'],
        conflicts: [{ path: 'src/a.txt', places: 1 }],
        consent: [{ allow: '.github/ci.yml', files: 1 }],
        problem: null,
      },
      command: 'claw update upstream/main --allow .github/ci.yml',
    },
  });
  expect(fork.git('remote', 'get-url', 'upstream').trim()).toBe(upstream.root);
  expect(fork.git('rev-parse', 'upstream/main', 'v2.0.0')).toBe(
    upstream.git('rev-parse', 'main', 'v2.0.0'),
  );
  fork.git('fsck', '--strict');
  await expectAllRecorded(fork);
});

test.concurrent('the command that adopt ends with brings the release, and every edit stays', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  const { json } = await adopt(fork, upstream.root);
  const [, ...command] = (json.data as { command: string }).command.split(' ');
  expect((await fork.claw(...command)).code).toBe(3);
  expect((await fork.claw('resolve', 'src/a.txt', '--both', 'release')).code).toBe(0);
  expect((await fork.claw('continue', '--allow', '.github')).code).toBe(0);
  const text = fork.read('src/a.txt');
  for (const part of ['two, really mine', 'five of mine', 'FIVE', 'NINE'])
    expect(text).toContain(part);
  expect(fork.read('src/b.txt')).toBe(line('one', 'ONE'));
  expect(fork.read('docs/page.md')).toBe('my page\n');
  expect(fork.read('src/own.txt')).toBe('own\n');
  // With the command that update prints, git merges from there: only what both have changed since is a conflict.
  commitAll(fork, 'the update');
  fork.git('merge', '--quiet', '--no-edit', '--strategy', 'ours', 'upstream/main');
  upstream.write({ 'src/b.txt': line('one', 'ONE', line('nine', 'NINE')) });
  commitAll(upstream, 'later');
  fork.git('fetch', '--quiet', 'upstream');
  fork.git('merge', '--quiet', '--no-edit', 'upstream/main');
  expect(fork.read('src/b.txt')).toBe(line('one', 'ONE', line('nine', 'NINE')));
  expect(fork.read('src/a.txt')).toBe(text);
});

test.concurrent('undo takes an adoption back, and adopting twice says so', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  await adopt(fork, upstream.root);
  const again = await adopt(fork, upstream.root);
  expect(again.json).toMatchObject({
    outcome: 'nothing',
    data: {
      isAdopted: true,
      layers: 1,
      upstream: { remote: 'upstream', isNewRemote: false },
      next: { changedByBoth: ['src/a.txt'], conflicts: [{ path: 'src/a.txt' }] },
    },
  });
  expect((await fork.claw('undo')).code).toBe(0);
  expect(fork.has('.claw/state.yaml')).toBe(false);
  expect((await adopt(fork, 'upstream')).json).toMatchObject({ data: { isAdopted: false } });
});

test.concurrent('a dry run writes neither state nor remote nor refs', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  const refs = fork.git('for-each-ref');
  const { json } = await adopt(fork, upstream.root, '--dry-run');
  expect(json).toMatchObject({ outcome: 'done', data: { verb: 'adopt', next: { files: 4 } } });
  expect(fork.git('for-each-ref') + fork.git('remote')).toBe(refs);
  expect(fork.state()).toEqual({});
});

test.concurrent('the edits are parted by commit, each with its subject', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  fork.write({ 'src/b.txt': line('nine', 'nine, not committed') });
  const { json } = await adopt(fork, upstream.root, '--by', 'commit');
  expect(json.data).toMatchObject({
    customisations: [
      { description: 'feat: greet warmly', files: ['src/a.txt'] },
      { description: 'fix: greet less', files: ['src/a.txt', 'src/own.txt'] },
      { description: 'docs: say so', files: ['docs/page.md'] },
      { description: 'not committed yet', files: ['src/b.txt'] },
    ],
    unrecorded: [],
  });
  await expectAllRecorded(fork);
  expect((await fork.claw('remove', 'custom-docs-say-so')).code).toBe(0);
  expect(fork.read('docs/page.md')).toBe('page\n');
});

test.concurrent('the edits are parted by folder, and by merged branch', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  fork.git('checkout', '--quiet', '-b', 'calendar');
  fork.write({
    'src/calendar.txt': 'calendar\n',
    'src/b.txt': line('three', 'three of the calendar'),
  });
  commitAll(fork, 'the calendar');
  fork.git('checkout', '--quiet', 'main');
  fork.git('merge', '--quiet', '--no-ff', '--no-edit', 'calendar');
  const folders = await adopt(fork, upstream.root, '--by', 'folder');
  expect(folders.json.data).toMatchObject({
    customisations: [
      { name: 'custom-docs', description: 'docs: docs: say so' },
      {
        name: 'custom-src',
        description: 'src: the calendar; fix: greet less; feat: greet warmly',
        files: ['src/a.txt', 'src/b.txt', 'src/calendar.txt', 'src/own.txt'],
      },
    ],
  });
  await expectAllRecorded(fork);
  await fork.claw('undo');
  const branches = await adopt(fork, upstream.root, '--by', 'branch');
  expect(branches.json.data).toMatchObject({
    customisations: [
      { name: 'custom-commits-without-a-branch' },
      { name: 'custom-calendar', files: ['src/b.txt', 'src/calendar.txt'] },
    ],
  });
  await expectAllRecorded(fork);
});

test.concurrent('where upstream was merged in between, a file goes to its last topic as a whole', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  upstream.git('branch', 'early', 'HEAD~1');
  fork.git('fetch', '--quiet', upstream.root, 'early');
  fork.git('merge', '--quiet', '--no-edit', '-X', 'ours', 'FETCH_HEAD');
  fork.write({ 'src/a.txt': fork.read('src/a.txt').replace('one', 'one after the merge') });
  commitAll(fork, 'after the merge');
  const { json } = await adopt(fork, upstream.root, '--by', 'commit');
  expect(json.data).toMatchObject({
    base: { version: '2.0.0' },
    customisations: [
      { description: 'fix: greet less', files: ['src/own.txt'] },
      { description: 'docs: say so' },
      { description: 'after the merge', files: ['src/a.txt'] },
    ],
    next: { commits: { count: 1 }, conflicts: [] },
  });
  expect((await fork.claw('status')).json.data).toMatchObject({ edits: [] });
});

test.concurrent('a release that a plain init took from an own commit is replaced', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  fork.git('tag', 'v9.9.9');
  expect((await fork.claw('init')).code).toBe(0);
  const { json } = await adopt(fork, upstream.root);
  expect(json).toMatchObject({ outcome: 'done', data: { base: { version: '1.2.0' } } });
  await expectAllRecorded(fork);
  expect((await fork.claw('undo')).code).toBe(0);
  expect((await fork.claw('status')).json.data).toMatchObject({ core: { from: 'tag' } });
});

test.concurrent('files that no layer can hold stay edits, and are named', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  fork.write({
    'src/-odd.txt': 'odd\n',
    'src/conflict.txt': '<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n',
  });
  commitAll(fork, 'odd files');
  const { json } = await adopt(fork, upstream.root);
  expect(json.data).toMatchObject({
    unrecorded: [
      { path: 'src/-odd.txt' },
      { path: 'src/conflict.txt', why: 'it holds conflict markers' },
    ],
    customisations: [{ files: ['docs/page.md', 'src/a.txt', 'src/own.txt'] }],
  });
});

test.concurrent('files of the release in private folders are named', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  fork.write({ 'claw.config.yaml': 'private: [docs]\n' });
  commitAll(fork, 'mine');
  const { json } = await adopt(fork, upstream.root);
  expect(json.data).toMatchObject({ privateFiles: ['docs/page.md'] });
});

test.concurrent('what has no common history, or is not a repository, is refused, and nothing is left behind', async () => {
  await using pair = forked();
  await using other = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const { fork } = pair;
  const refused = await adopt(fork, other.root);
  expect(refused.json.error).toMatchObject({ code: 'RELEASE_NOT_FOUND' });
  expect((await adopt(fork, 'nowhere')).json.error).toMatchObject({ code: 'RELEASE_NOT_FOUND' });
  expect((await adopt(fork, 'ext::sh -c touch%20x')).json.error).toMatchObject({ code: 'USAGE' });
  expect((await adopt(fork, '--by', 'colour', other.root)).code).toBe(2);
  expect(fork.git('remote')).toBe('');
  expect(fork.state()).toEqual({});
});

test.concurrent('no program that the project’s own git settings name is started by a fetch', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  const mark = join(fork.root, '.git', 'started');
  const program = join(fork.root, '.git', 'program.sh');
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\nexec git-upload-pack "$@"\n`, {
    mode: 0o755,
  });
  fork.git('config', 'remote.upstream.url', upstream.root);
  fork.git('config', 'remote.upstream.uploadpack', program);
  fork.git('config', 'core.alternateRefsCommand', program);
  fork.git('config', 'core.sshCommand', program);
  fork.git('config', `url.ext::${program}.insteadOf`, upstream.root);
  expect((await adopt(fork, 'upstream')).code).toBe(0);
  expect(fork.has('.git/started')).toBe(false);
});

/** Signs that git takes in names, and of which a shell would make commands. */
const ODD = "it's;touch$IFS'mark'&$(touch$IFS'mark')|x";

/** The words that a shell makes of a printed command. */
function wordsOf(command: string, cwd: string): readonly string[] {
  const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`], { cwd });
  return printed.toString('utf8').trimEnd().split('\n');
}

test.concurrent('a branch of upstream with any name that git takes is one word of the printed commands', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  upstream.git('checkout', '--quiet', '-b', ODD);
  const { json } = await adopt(fork, upstream.root, '--allow', '.github/');
  const { command } = json.data as { command: string };
  const ref = `upstream/${ODD}`;
  const words = ['claw', 'update', ref, '--allow', '.github/ci.yml'];
  expect(wordsOf(command, fork.root)).toEqual(words);
  expect(fork.has('mark')).toBe(false);
  expect((await fork.claw(...words.slice(1))).json.conflicts).toMatchObject([
    { path: 'src/a.txt' },
  ]);
});

test.concurrent('a ref without a common commit is one word of the command that is named instead', async () => {
  await using pair = forked();
  const { fork } = pair;
  fork.git('checkout', '--quiet', '--orphan', ODD);
  fork.git('commit', '--quiet', '-m', 'alone');
  fork.git('checkout', '--quiet', 'main');
  const { json } = await adopt(fork, ODD);
  const [, command = ''] = /then (claw update .*)\.$/.exec(json.error?.message ?? '') ?? [];
  expect(wordsOf(command, fork.root)).toEqual(['claw', 'update', ODD]);
});

for (const isPacked of [true, false]) {
  const how = isPacked ? 'beside packed refs' : 'as a file of its own';
  test.concurrent(`a ref of the remote that names the owner’s branch is replaced, not followed, ${how}`, async () => {
    await using pair = forked();
    const { fork, upstream } = pair;
    fork.git('branch', 'mine');
    const mine = fork.git('rev-parse', 'mine');
    if (isPacked) fork.git('pack-refs', '--all');
    for (const name of ['main', 'HEAD']) {
      fork.git('symbolic-ref', `refs/remotes/upstream/${name}`, 'refs/heads/mine');
    }
    fork.git('symbolic-ref', 'refs/tags/v2.0.0', 'refs/heads/mine');
    expect((await adopt(fork, upstream.root)).code).toBe(0);
    expect(fork.git('rev-parse', 'mine')).toBe(mine);
    expect(fork.git('rev-parse', 'upstream/main')).toBe(upstream.git('rev-parse', 'main'));
    expect(fork.git('symbolic-ref', 'refs/remotes/upstream/HEAD').trim()).toBe(
      'refs/remotes/upstream/main',
    );
    expect(() => fork.git('symbolic-ref', '--quiet', 'refs/remotes/upstream/main')).toThrow();
  });
}

test.concurrent('a shallow clone is told what to do', async () => {
  await using pair = forked();
  await using shallow = openCodebase(realpathSync(mkdtempSync(join(tmpdir(), 'claw-codebase-'))));
  shallow.git('clone', '--quiet', '--depth=1', `file://${pair.fork.root}`, '.');
  const { json } = await adopt(shallow, pair.upstream.root);
  expect(json.error?.message).toContain('git fetch --unshallow');
});

test.concurrent('an update lists the release’s commits, breaking ones first', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  for (let at = 0; at < 12; at += 1)
    upstream.git('commit', '--quiet', '--allow-empty', '-m', `chore: ${at}`);
  upstream.git(
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'fix: \u001b[2J x',
    '-m',
    'BREAKING CHANGE: y',
  );
  await adopt(fork, upstream.root);
  const { json } = await fork.claw('plan', 'update', 'upstream/main');
  const { commits } = json.data as { commits: { count: number; shown: { subject: string }[] } };
  expect(commits.count).toBe(15);
  expect(commits.shown.map(({ subject }) => subject)).toEqual([
    'fix:  [2J x',
    'feat!: five is FIVE',
    ...[11, 10, 9, 8, 7, 6, 5, 4].map((at) => `chore: ${at}`),
  ]);
});

/** A fork with the commit that upstream makes next, as one that was picked or squashed; adopted, and updated to it. */
async function updatedToTheSame(): Promise<Pair> {
  const pair = forked();
  const { fork, upstream } = pair;
  fork.write({ 'src/b.txt': line('one', 'ONE') });
  commitAll(fork, 'as upstream will have it');
  upstream.git('tag', 'first');
  upstream.write({ 'src/b.txt': line('one', 'ONE, and on') });
  commitAll(upstream, 'b goes on');
  await adopt(fork, upstream.root, '--by', 'folder');
  const args = ['--allow', '.github', '--yes'];
  expect((await fork.claw('update', 'first', ...args)).code).toBe(3);
  expect((await fork.claw('resolve', 'src/a.txt', '--take', 'mine')).code).toBe(0);
  expect((await fork.claw('continue', '--allow', '.github')).code).toBe(0);
  return pair;
}

test.concurrent('what the last release had as the fork has it is not asked about when upstream goes on', async () => {
  await using pair = await updatedToTheSame();
  const { fork } = pair;
  const { json } = await fork.claw('--yes', 'update', 'upstream/main');
  expect(json).toMatchObject({ error: null, outcome: 'done', conflicts: [] });
  expect(json.warnings.join()).toContain('custom-src no longer holds that file');
  expect(fork.read('src/b.txt')).toBe(line('one', 'ONE, and on'));
  expect(fork.read('src/a.txt')).toContain('five of mine');
  expect((await fork.claw('status')).json.data).toMatchObject({ edits: [] });
  expect((await fork.claw('verify')).code).toBe(0);
  expect((await fork.claw('undo')).code).toBe(0);
  expect(fork.read('src/b.txt')).toBe(line('one', 'ONE'));
});

test.concurrent('with --keep it is asked about', async () => {
  await using pair = await updatedToTheSame();
  const { fork } = pair;
  const run = await fork.claw('--yes', 'update', 'upstream/main', '--keep', 'custom-src');
  expect(run).toMatchObject({ code: 3, json: { conflicts: [{ path: 'src/b.txt' }] } });
});

test.concurrent('committing an adoption brings git no content that it did not have', async () => {
  await using pair = forked();
  const { fork, upstream } = pair;
  await adopt(fork, upstream.root);
  commitAll(fork, 'adopted');
  const before = fork.git('rev-list', '--objects', 'HEAD~1');
  const files = fork.git('ls-tree', '-r', 'HEAD').trim().split('\n');
  const isNew = (entry: string) => !before.includes(entry.split(/\s/)[2] ?? '');
  expect(files.filter(isNew).map((entry) => entry.split('\t')[1])).toEqual([
    '.claw/.gitattributes',
    '.claw/.gitignore',
    '.claw/custom/custom-my-edits-since-1-2-0/manifest.yaml',
    '.claw/state.yaml',
  ]);
});
