import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type Codebase,
  type Files,
  temporaryCodebase,
} from '../../../../src/testing/claw/codebase.ts';

const HOME = join(import.meta.dirname, '../../../..');
const CLAW = join(HOME, 'bin/claw.js');
const PLAIN: Files = { 'a b.json': '{\n  "a": 1,\n  "b": 2\n}\n', 'c.txt': 'one\ntwo\nthree\n' };

test('a merge that git finds a conflict in is clean by the driver, also in a file with spaces', async () => {
  await using codebase = branched(PLAIN, { 'a b.json': entry('c') }, { 'a b.json': entry('d') });
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(1);
  codebase.git('merge', '--abort');
  install(codebase);
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(0);
  expect(JSON.parse(codebase.read('a b.json'))).toEqual({ a: 1, b: 2, c: 3, d: 3 });
});

test('a conflict is git’s own: markers, stages in the index, and a merge to be continued', async () => {
  await using codebase = branched(
    PLAIN,
    { 'c.txt': 'one\nours\nthree\n' },
    { 'c.txt': 'one\ntheirs\nthree\n' },
  );
  install(codebase);
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(1);
  expect(codebase.read('c.txt')).toMatch(/^one\n<{7} .+\nours\n={7}\ntheirs\n>{7} .+\nthree\n$/);
  expect(codebase.git('ls-files', '-u').trim().split('\n')).toHaveLength(3);
  codebase.git('merge', '--abort');
  codebase.git('config', 'merge.conflictStyle', 'diff3');
  gitRun(codebase, 'merge', 'theirs');
  expect(codebase.read('c.txt')).toMatch(/\n\|{7} .+\ntwo\n={7}\n/);
});

test.each(['rebase', 'cherry-pick'])('%s merges by it, and stops at a conflict', async (verb) => {
  await using codebase = branched(PLAIN, { 'a b.json': entry('c') }, { 'a b.json': entry('d') });
  install(codebase);
  expect(gitRun(codebase, verb, 'theirs').status).toBe(0);
  expect(JSON.parse(codebase.read('a b.json'))).toEqual({ a: 1, b: 2, c: 3, d: 3 });
  codebase.git('checkout', '-q', '-b', 'other', 'theirs');
  codebase.write({ 'a b.json': entry('d').replace('3', '4') });
  codebase.git('commit', '-qam', 'other');
  codebase.git('checkout', '-q', 'main');
  codebase.write({ 'a b.json': codebase.read('a b.json').replace(/"d": 3/, '"d": 5') });
  codebase.git('commit', '-qam', 'mine');
  expect(gitRun(codebase, verb, 'other').status).toBe(1);
  expect(codebase.read('a b.json')).toContain('<<<<<<<');
  codebase.git(verb, '--abort');
  expect(codebase.git('status', '--porcelain')).toBe('');
});

test('a binary file stays as ours, in conflict, and the other side is in the index', async () => {
  const picture = (byte: number) => Buffer.from([0, 1, byte]);
  await using codebase = branched({ x: picture(1) }, { x: picture(2) }, { x: picture(3) });
  install(codebase);
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(1);
  expect(codebase.read('x')).toBe(picture(2).toString('utf8'));
  expect(gitRun(codebase, 'show', ':3:x').stdout).toBe(picture(3).toString('utf8'));
});

test('line ends of both kinds come through', async () => {
  const text = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join('');
  await using codebase = branched(
    { 'c.txt': text('1', '2', '3', '4', '5') },
    { 'c.txt': text('one', '2', '3', '4', '5') },
    { 'c.txt': text('1', '2', '3', '4', 'five') },
  );
  install(codebase);
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(0);
  expect(codebase.read('c.txt')).toBe(text('one', '2', '3', '4', 'five'));
});

test.each(['claw', 'Node', 'both of them'])(
  'where %s is gone, git merges by itself',
  async (gone) => {
    await using codebase = branched(
      PLAIN,
      { 'c.txt': 'ONE\ntwo\nthree\n', 'a b.json': entry('c') },
      { 'c.txt': 'one\ntwo\nTHREE\n', 'a b.json': entry('d') },
    );
    install(codebase);
    const driver = codebase.git('config', 'merge.claw.driver').trim();
    const broken = [
      ...(gone === 'Node' ? [] : [(text: string) => text.replace(CLAW, '/nowhere/claw.js')]),
      ...(gone === 'claw'
        ? []
        : [(text: string) => text.replace(process.execPath, '/nowhere/node')]),
    ].reduce((text, replace) => replace(text), driver.replace('n=node', 'n=no-such-node'));
    codebase.git('config', 'merge.claw.driver', broken);
    const run = gitRun(codebase, 'merge', 'theirs');
    expect(run.status).toBe(1); // The JSON, as by git alone.
    expect(codebase.read('c.txt')).toBe('ONE\ntwo\nTHREE\n');
    expect(codebase.read('a b.json')).toMatch(
      /<{7}[\s\S]*"c": 3[\s\S]*={7}[\s\S]*"d": 3[\s\S]*>{7}/,
    );
    const status = await codebase.claw('merge-driver', 'status');
    expect(status.json.data).toMatchObject({
      fault: expect.stringContaining('git merges by itself'),
    });
  },
);

test('what the repository says of its files counts more, and is all there after uninstall', async () => {
  const attributes = '*.lock merge=ours\r\n# mine\r\n"a b.json" -merge\r\n';
  await using codebase = branched(
    { ...PLAIN, '.gitattributes': attributes },
    { 'a b.json': entry('c') },
    { 'a b.json': entry('d') },
  );
  const before = [codebase.read('.git/config'), codebase.read('.gitattributes')];
  install(codebase);
  expect(gitRun(codebase, 'merge', 'theirs').status).toBe(1);
  expect(codebase.read('a b.json')).toBe(entry('c'));
  codebase.git('merge', '--abort');
  install(codebase, '--path', '*.ts', '--shared', '--path', 'with space.*');
  install(codebase, '--path', '*.ts', '--shared');
  expect(codebase.read('.gitattributes')).toMatch(
    /^# claw.*\r\n\*\.ts merge=claw\r\n"with space\.\*" merge=claw\r\n# claw.*end\r\n\*\.lock/,
  );
  const attribute = codebase.git('check-attr', 'merge', 'with space.x', 'a b.json');
  expect(attribute).toBe('with space.x: merge: claw\na b.json: merge: unset\n');
  install(codebase, '--path', '*.md');
  expect(codebase.read('.git/info/attributes')).toContain('*.md merge=claw');
  const out = await codebase.claw('merge-driver', 'uninstall');
  expect(out.json).toMatchObject({ ok: true, outcome: 'done', data: { isInstalled: false } });
  expect([codebase.read('.git/config'), codebase.read('.gitattributes')]).toEqual(before);
  expect(codebase.has('.git/info/attributes')).toBe(false);
  expect((await codebase.claw('merge-driver', 'uninstall')).json.outcome).toBe('nothing');
});

test('attributes that are a link are not written, nor what the link leads to', async () => {
  await using codebase = temporaryCodebase({ ...PLAIN, keys: 'mine\n' }, { git: true });
  symlinkSync('keys', codebase.path('.gitattributes'));
  const { json } = await codebase.claw('merge-driver', 'install', '--shared', '--path', '*.ts');
  expect(json.error).toMatchObject({ code: 'LINK_REFUSED' });
  expect(codebase.read('keys')).toBe('mine\n');
});

test('another driver of git’s is left alone, and so is a folder that is not a repository', async () => {
  await using codebase = temporaryCodebase(PLAIN, { git: true });
  codebase.git('config', 'merge.default', 'union');
  const refused = await codebase.claw('merge-driver', 'install');
  expect(refused.json.error).toMatchObject({ code: 'USAGE' });
  expect(codebase.git('config', 'merge.default')).toBe('union\n');
  codebase.git('config', 'merge.claw.driver', 'mine %A');
  const taken = await codebase.claw('merge-driver', 'install', '--path', '*.ts');
  expect(taken.json.error?.message).toContain('another driver by the name claw');
  await codebase.claw('merge-driver', 'uninstall');
  expect(codebase.git('config', 'merge.claw.driver')).toBe('mine %A\n');
  await using bare = temporaryCodebase(PLAIN);
  expect((await bare.claw('merge-driver', 'install')).json.error).toMatchObject({ code: 'USAGE' });
});

function entry(key: string): string {
  return `{\n  "a": 1,\n  "b": 2,\n  "${key}": 3\n}\n`;
}

/** Makes a repository on `main`, with a branch `theirs` of the same first commit. */
function branched(base: Files, ours: Files, theirs: Files): Codebase {
  const codebase = temporaryCodebase(base, { git: true });
  codebase.git('config', 'core.autocrlf', 'false');
  codebase.git('config', 'user.name', 'A');
  codebase.git('config', 'user.email', 'a@example.com');
  codebase.git('checkout', '-q', '-b', 'theirs');
  codebase.write(theirs);
  codebase.git('commit', '-qam', 'theirs');
  codebase.git('checkout', '-q', 'main');
  codebase.write(ours);
  codebase.git('commit', '-qam', 'ours');
  return codebase;
}

function install(codebase: Codebase, ...options: string[]): void {
  const args = [CLAW, '--cwd', codebase.root, 'merge-driver', 'install', ...options];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(run.stdout + run.stderr).toContain('It works');
}

function gitRun(codebase: Codebase, ...args: string[]) {
  const env = { ...process.env, GIT_EDITOR: 'true' };
  return spawnSync('git', args, { cwd: codebase.root, encoding: 'utf8', env });
}
