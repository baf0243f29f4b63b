import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  CLAW,
  type Codebase,
  commitAll,
  type Files,
  openCodebase,
  skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const DEMO = { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } } as const;

/** A folder beside the codebase, for what packages come from. */
function elsewhere(files: Files): Codebase {
  const place = openCodebase(fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-elsewhere-'))));
  place.write(files);
  return place;
}

function below(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, file]) => [`${folder}/${path}`, file]),
  );
}

/** A repository with one package under skills/demo, tagged v1, and a second version on main. */
function repository(): Codebase {
  const place = elsewhere(below('skills/demo', skillFiles('demo', DEMO)));
  place.git('init', '--quiet', '--initial-branch=main');
  commitAll(place, 'first');
  place.git('tag', 'v1');
  const second = { ...DEMO, version: '2.0.0', add: { 'src/new.ts': 'new\n' } };
  place.write(below('skills/demo', skillFiles('demo', second)));
  commitAll(place, 'second');
  return place;
}

function tar(place: Codebase, name: string, ...args: string[]): string {
  execFileSync('tar', ['-cf', place.path(name), ...args], { cwd: place.root });
  return place.path(name);
}

/** Temporary folders that a fetch has left behind. */
function leftovers(): readonly string[] {
  return fs.readdirSync(tmpdir()).filter((name) => name.startsWith('claw-source-'));
}

test.for([
  ['npm-pack style, gzipped', 'demo.tgz', ['-z', 'package']],
  ['files at the top', 'demo.tar', ['-C', 'package', '.']],
  [
    'another folder at the top',
    'demo.tar.gz',
    ['-z', '--transform=s/^package/demo-1.0.0/', 'package'],
  ],
] as const)('a tarball is a package: %s', async ([, name, args]) => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = elsewhere(below('package', skillFiles('demo', DEMO)));
  tar(place, name, ...args);
  const run = await codebase.claw('apply', place.path(name));
  expect(run.json).toMatchObject({ ok: true, outcome: 'done' });
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('one', 'ONE'));
  const folder = await codebase.claw('apply', place.path('package'));
  expect(folder.json).toMatchObject({ outcome: 'nothing' });
  expect(codebase.read('.claw/state.yaml')).not.toContain(`${tmpdir()}/claw`);
});

test('what a tarball must not hold is refused before anything is written', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = elsewhere(below('package', skillFiles('demo', DEMO)));
  place.write({ 'secret.txt': 'secret\n' });
  fs.symlinkSync('../secret.txt', place.path('package/link.txt'));
  execFileSync('mkfifo', [place.path('package/pipe')]);
  const archives: Record<string, string> = {
    LINK_REFUSED: tar(place, 'link.tar', '--exclude=pipe', 'package'),
    FILE_KIND: tar(place, 'fifo.tar', '--exclude=link.txt', 'package'),
    PATH_UNSAFE: tar(
      place,
      'up.tar',
      '-P',
      '--transform=s,^secret,../secret,',
      'package',
      'secret.txt',
    ),
    FILE_MISSING: tar(place, 'empty.tar', 'secret.txt'),
  };
  place.write({ 'broken.tgz': 'no tarball at all' });
  archives['SOURCE_FAILED'] = place.path('broken.tgz');
  const before = [codebase.tree(), codebase.has('.claw')];
  for (const [code, archive] of Object.entries(archives)) {
    const run = await codebase.claw('apply', archive);
    expect(run).toMatchObject({ code: 1, json: { error: { code } } });
  }
  expect([codebase.tree(), codebase.has('.claw')]).toEqual(before);
});

test('a truncated tarball and one that unpacks without end are refused', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = elsewhere(below('package', skillFiles('demo', DEMO)));
  place.write({ 'package/large.bin': Buffer.alloc(70 * 1024 * 1024) });
  const large = await codebase.claw('apply', tar(place, 'large.tgz', '-z', 'package'));
  expect(large).toMatchObject({ code: 1, json: { error: { code: 'LIMIT_EXCEEDED' } } });
  place.write({ 'package/large.bin': Buffer.alloc(200 * 1024 * 1024) });
  const bomb = await codebase.claw('apply', tar(place, 'bomb.tgz', '-z', 'package'));
  expect(bomb).toMatchObject({ code: 1, json: { error: { code: 'LIMIT_EXCEEDED' } } });
  place.remove('package/large.bin');
  const whole = fs.readFileSync(tar(place, 'cut.tar', 'package'));
  place.write({ 'cut.tar': whole.subarray(0, 1200) });
  const cut = await codebase.claw('apply', place.path('cut.tar'));
  expect(cut).toMatchObject({ code: 1, json: { error: { code: 'SOURCE_FAILED' } } });
});

test('a folder of a git repository is a package; its ref and commit are pinned', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  const commit = place.git('rev-parse', 'v1').trim();
  const before = leftovers();
  const planned = await codebase.claw('plan', 'apply', `file://${place.root}#v1:skills/demo`);
  expect(planned.json.data).toMatchObject({
    sources: [{ name: 'demo', version: '1.0.0', commit, touches: ['src/a.ts'] }],
  });
  expect(codebase.has('.claw')).toBe(false);
  const run = await codebase.claw('apply', `file://${place.root}#v1:skills/demo`);
  expect(run.json).toMatchObject({ ok: true, outcome: 'done' });
  expect(leftovers()).toEqual(before);
  const { data } = (await codebase.claw('list')).json;
  expect(data).toMatchObject([{ version: '1.0.0', commit }]);
  const [layer] = data as { source: string }[];
  expect(layer?.source).toMatch(/^file:\.\..*#v1:skills\/demo$/);
  const state = codebase.read('.claw/state.yaml');
  expect(state).toContain(commit);
  expect(state).not.toContain(`file://`);
  expect(state).not.toContain(` ${tmpdir()}`);
});

test('without a ref the newest commit counts, and upgrade goes back to the recorded source', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  place.git('reset', '--quiet', '--hard', 'v1');
  place.git('clone', '--quiet', '--bare', '.', 'bare.git');
  const apply = await codebase.claw('apply', `${place.path('bare.git')}#skills/demo`);
  expect(apply.json).toMatchObject({ outcome: 'done' });
  place.git('reset', '--quiet', '--hard', 'ORIG_HEAD');
  place.git('push', '--quiet', 'bare.git', 'main');
  for (const names of [['demo'], []]) {
    const run = await codebase.claw('upgrade', ...names);
    expect(run.json).toMatchObject({ ok: true, outcome: names.length > 0 ? 'done' : 'nothing' });
  }
  expect(codebase.read('src/new.ts')).toBe('new\n');
  place.remove('bare.git');
  const gone = await codebase.claw('upgrade');
  expect(gone.json).toMatchObject({ ok: true, outcome: 'nothing' });
  expect(gone.json.warnings.join()).toContain('demo stays as it is');
});

test('replay on a clone fetches what was not carried over, if the digest is right', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  await using packed = elsewhere(
    below('package', skillFiles('packed', { add: { 'p.txt': 'p\n' } })),
  );
  tar(packed, 'packed.tgz', '-z', 'package');
  const address = `file://${place.root}#skills/demo`;
  await codebase.claw('apply', address, packed.path('packed.tgz'));
  const wanted = codebase.tree();
  codebase.remove('.claw/packages');
  codebase.git('checkout', '--', '.');
  fs.rmSync(codebase.path('src/new.ts'));
  fs.rmSync(codebase.path('p.txt'));
  const other = await codebase.claw('remove', 'demo');
  expect(other).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
  expect(other.json.error?.message).toContain('claw replay');
  const run = await codebase.claw('replay');
  expect(run.json).toMatchObject({ ok: true, outcome: 'done' });
  expect(codebase.tree()).toEqual(wanted);
  codebase.remove('.claw/packages');
  place.write({ 'skills/demo/add/src/new.ts': 'changed\n' });
  commitAll(place, 'changed under its version');
  const changed = await codebase.claw('replay');
  expect(changed).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
  fs.rmSync(place.root, { recursive: true });
  const gone = await codebase.claw('replay');
  expect(gone).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
});

test('links and submodules of a repository are refused', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  fs.symlinkSync('/etc/passwd', place.path('skills/demo/link'));
  commitAll(place, 'link');
  const link = await codebase.claw('apply', `file://${place.root}#skills/demo`);
  expect(link).toMatchObject({ code: 1, json: { error: { code: 'LINK_REFUSED' } } });
  fs.rmSync(place.path('skills/demo/link'));
  commitAll(place, 'no link');
  const head = place.git('rev-parse', 'HEAD').trim();
  place.git('update-index', '--add', '--cacheinfo', `160000,${head},skills/demo/module`);
  place.git('commit', '--quiet', '-m', 'submodule');
  const submodule = await codebase.claw('apply', `file://${place.root}#skills/demo`);
  expect(submodule).toMatchObject({ code: 1, json: { error: { code: 'FILE_KIND' } } });
});

test('a repository says what is wrong with the address: ref, folder, access', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  const url = `file://${place.root}`;
  const before = leftovers();
  const folder = await codebase.claw('apply', `${url}#skills/dmo`);
  expect(folder).toMatchObject({ code: 1, json: { error: { code: 'SKILL_NOT_FOUND' } } });
  expect(folder.json.error?.message).toContain('skills/demo');
  const ref = await codebase.claw('apply', `${url}#v9:skills/demo`);
  expect(ref).toMatchObject({ code: 1, json: { error: { code: 'SOURCE_FAILED' } } });
  expect(ref.json.error?.message).toContain('v9');
  const missing = await codebase.claw('apply', `${url}/nowhere.git#skills/demo`);
  expect(missing).toMatchObject({ code: 1, json: { error: { code: 'SOURCE_FAILED' } } });
  const secret = await codebase.claw('apply', 'https://me:hidden@localhost:1/x.git#demo');
  expect(secret).toMatchObject({ code: 1, json: { error: { code: 'SOURCE_FAILED' } } });
  expect(secret.stdout + secret.stderr).not.toContain('hidden');
  expect(leftovers()).toEqual(before);
});

test.for([
  'ext::sh -c touch% /tmp/pwned',
  'http://example.org/x.git',
  'git://example.org/x.git',
  'ssh://-oProxyCommand=touch/x.git',
  'https://example.org/x.git#--upload-pack=x:demo',
  'https://example.org/x.git#a..b:demo',
])('an address that could make git do something else is refused: %s', async (address) => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const run = await codebase.claw('apply', address);
  expect(run).toMatchObject({ json: { ok: false, error: { code: 'USAGE' } } });
});

test('a commit that no branch ends in, and a tag with a message, can be named', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  place.git('tag', '-a', 'v2', '-m', 'second');
  const first = place.git('rev-parse', 'v1').trim();
  const second = place.git('rev-parse', 'v2^{commit}').trim();
  for (const [ref, commit] of [
    [first, first],
    ['v2', second],
    ['main', second],
  ]) {
    const run = await codebase.claw('plan', 'apply', `file://${place.root}#${ref}:skills/demo`);
    expect(run.json.data).toMatchObject({ sources: [{ commit }] });
  }
});

test('neither hooks nor filters nor templates run, wherever they are set up', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await using place = repository();
  place.write({ 'skills/demo/.gitattributes': '* filter=evil\n' });
  commitAll(place, 'attributes');
  const trap = { text: `#!/bin/sh\ntouch '${place.path('ran')}'\n`, mode: 0o755 };
  for (const hook of ['reference-transaction', 'post-checkout', 'post-index-change']) {
    place.write({ [`hooks/${hook}`]: trap, [`template/hooks/${hook}`]: trap });
  }
  place.write({
    gitconfig: `[core]\n\thooksPath = ${place.path('hooks')}
[init]\n\ttemplateDir = ${place.path('template')}
[filter "evil"]\n\tsmudge = ${place.path('hooks/post-checkout')}\n\trequired = true\n`,
  });
  const address = `file://${place.root}#skills/demo`;
  execFileSync(process.execPath, [CLAW, 'apply', address, '--cwd', codebase.root], {
    stdio: 'ignore',
    env: { ...process.env, GIT_CONFIG_GLOBAL: place.path('gitconfig') },
  });
  expect(codebase.has('src/new.ts')).toBe(true);
  expect(place.has('ran')).toBe(false);
});

test('Ctrl-C while something is fetched leaves nothing behind', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const before = leftovers();
  const address = 'ssh://git@example.org/x.git#demo';
  const child = spawn(
    process.execPath,
    [CLAW, 'apply', address, '--json', '--cwd', codebase.root],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GIT_SSH_COMMAND: 'sleep 600 #' },
    },
  );
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await new Promise((resolve) => child.stderr.once('data', resolve));
  await vi.waitFor(() => expect(leftovers()).toHaveLength(before.length + 1));
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'INTERRUPTED' } });
  expect(leftovers()).toEqual(before);
  expect(codebase.has('.claw')).toBe(false);
});
