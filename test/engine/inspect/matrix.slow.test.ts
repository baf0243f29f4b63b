import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { MatrixCell, MatrixData } from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  CLAW,
  type ClawRun,
  type Codebase,
  skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const said = (word: string) => LINES.replace(word, word.toUpperCase());

/** A skill that changes one line of `a.txt`. */
function addLine(codebase: Codebase, name: string, word: string, text = word.toUpperCase()): void {
  const modify = { 'a.txt': [LINES, LINES.replace(word, text)] as const };
  addSkill(codebase, name, { modify });
}

const dataOf = ({ json }: ClawRun) => json.data as MatrixData;
const cellOf = (run: ClawRun, ...skills: string[]): MatrixCell | undefined =>
  dataOf(run).cells.find((cell) => cell.skills.join() === skills.join());

/** Runs the matrix after making sure that it leaves every byte alone. */
async function matrix(codebase: Codebase, ...args: string[]): Promise<ClawRun> {
  const look = () => [codebase.tree(), codebase.state(), codebase.has('.claw')];
  const before = look();
  const run = await codebase.claw('matrix', ...args);
  expect(look()).toEqual(before);
  return run;
}

function passes(condition: string): string {
  return (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { existsSync, readFileSync } from 'node:fs';\n" +
    `test('holds', () => assert(${condition}));\n`
  );
}

test('every skill is composed alone, and those pairs that have a file or a key in common', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addLine(codebase, 'first', 'one');
  addLine(codebase, 'last', 'seven');
  const env = { env_additions: ['TOKEN'] };
  addSkill(codebase, 'apart', { add: { 'b.txt': 'b\n' }, manifest: { structured: env } });
  addSkill(codebase, 'keyed', { manifest: { structured: env } });
  const run = await matrix(codebase);
  expect(run).toMatchObject({ code: 0, json: { ok: true, outcome: 'done', conflicts: [] } });
  const { skills, cells, summary, core } = dataOf(run);
  expect(skills).toEqual(['apart', 'first', 'keyed', 'last']);
  expect(cells.map((cell) => [cell.skills.join('+'), cell.shares, cell.outcome])).toEqual([
    ['apart', [], 'clean'],
    ['first', [], 'clean'],
    ['keyed', [], 'clean'],
    ['last', [], 'clean'],
    ['apart+keyed', ['env:TOKEN'], 'clean'],
    ['first+last', ['a.txt'], 'clean'],
  ]);
  expect(summary).toMatchObject({ clean: 6, conflict: 0 });
  expect(core).toMatchObject({ from: 'tag', version: '1.0.0' });
});

test.each([
  ['service:cache', { docker_compose_services: { cache: { image: 'redis:7' } } }, null],
  ['npm:zod', { npm_dependencies: { zod: '^4.0.0' } }, null],
  ['image-npm:zod', { container: { npm_dependencies: { zod: '^4.0.0' } } }, null],
  ['image-apt:jq', { container: { apt_packages: ['jq'] } }, null],
  [
    'port:6379/tcp',
    { docker_compose_services: { one: { image: 'a:1', ports: ['127.0.0.1:6379:1'] } } },
    { docker_compose_services: { two: { image: 'b:1', ports: ['127.0.0.1:6379:2'] } } },
  ],
])('two skills with %s in common are a pair', async (key, structured, other) => {
  const config = 'structured: { image.json: container }\n';
  const files = { 'a.txt': LINES, 'claw.config.yaml': config };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'left', { manifest: { structured } });
  addSkill(codebase, 'right', { manifest: { structured: other ?? structured } });
  const run = await matrix(codebase, '--no-proof');
  expect(cellOf(run, 'left', 'right')?.shares).toEqual([key]);
});

test('a pair that conflicts says where, why and between whom, and ends with 3', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addLine(codebase, 'east', 'one', 'East');
  addLine(codebase, 'west', 'one', 'West');
  const ports = (name: string) => ({
    structured: {
      docker_compose_services: { [name]: { image: 'a:1', ports: ['127.0.0.1:80:1'] } },
    },
  });
  addSkill(codebase, 'north', { manifest: ports('north') });
  addSkill(codebase, 'south', { manifest: ports('south') });
  const run = await matrix(codebase);
  expect(run).toMatchObject({ code: 3, json: { ok: false, outcome: 'blocked', error: null } });
  expect(cellOf(run, 'east', 'west')).toMatchObject({
    outcome: 'conflict',
    conflicts: [{ path: 'a.txt', kind: 'content', layers: ['east', 'west'] }],
  });
  expect(cellOf(run, 'north', 'south')?.conflicts).toMatchObject([
    { path: 'docker-compose.yml#services.south.ports', kind: 'structured' },
  ]);
  expect(run.json.conflicts[0]?.hunks).toEqual([
    { base: 'one\n', ours: 'East\n', theirs: 'West\n' },
  ]);
});

test('what a recording resolves is resolved, and names the recording', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addLine(codebase, 'east', 'one', 'East');
  addLine(codebase, 'west', 'one', 'West');
  expect((await codebase.claw('apply', 'east', 'west')).code).toBe(3);
  expect((await codebase.claw('resolve', 'a.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  codebase.write({ 'a.txt': 'an edit of the owner that is not part of the core\n' });
  const run = await matrix(codebase);
  expect(run).toMatchObject({ code: 0, json: { ok: true } });
  const cell = cellOf(run, 'east', 'west');
  expect(cell).toMatchObject({ outcome: 'resolved', conflicts: [] });
  expect(cell?.resolutions).toHaveLength(1);
  expect(cellOf(run, 'east')?.resolutions).toEqual([]);
});

test('skills that exclude each other, and packages that are refused, are told apart', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'one', { add: { 'b.txt': 'b\n' } });
  addSkill(codebase, 'other', { add: { 'c.txt': 'c\n' }, manifest: { conflicts: ['one'] } });
  const excluded = await matrix(codebase);
  expect(excluded.code).toBe(0);
  expect(cellOf(excluded, 'one', 'other')?.outcome).toBe('excluded');

  addSkill(codebase, 'future', { core: '2.0.0', add: { 'd.txt': 'd\n' } });
  addSkill(codebase, 'needy', { add: { 'e.txt': 'e\n' }, manifest: { depends: ['nobody'] } });
  addSkill(codebase, 'folder', { add: { 'b.txt/x': 'x\n' } });
  addSkill(codebase, 'unlucky', { add: { 'f.txt': 'f\n' }, manifest: { depends: ['broken'] } });
  codebase.write({ 'skills/broken/manifest.yaml': 'skill: [\n' });
  const run = await matrix(codebase);
  expect(run).toMatchObject({ code: 1, json: { ok: false, outcome: 'refused' } });
  expect(run.json.error?.message).toContain('broken');
  const codes = dataOf(run).cells.flatMap(({ skills, refusal }) =>
    refusal ? [[skills.join('+'), refusal.code]] : [],
  );
  expect(codes).toEqual([
    ['broken', 'YAML_INVALID'],
    ['future', 'CORE_TOO_OLD'],
    ['needy', 'SKILL_NEEDED'],
    ['unlucky', 'YAML_INVALID'],
    ['folder+one', 'PATH_COLLISION'],
  ]);
});

test('checks and tests run on each composition, and only those that fail are failing', async () => {
  const files = { 'a.txt': LINES, 'claw.config.yaml': "check: ['grep -q four a.txt']\n" };
  await using codebase = temporaryCodebase(files, { git: true });
  const sees = (condition: string) => ({ 'it.test.mjs': passes(condition) });
  const text = "readFileSync(new URL('../../../a.txt', import.meta.url), 'utf8')";
  addSkill(codebase, 'first', {
    modify: { 'a.txt': [LINES, said('one')] },
    tests: sees(`${text}.includes('ONE')`),
  });
  addSkill(codebase, 'shy', {
    modify: { 'a.txt': [LINES, said('seven')] },
    tests: sees(`${text}.includes('one')`),
  });
  addSkill(codebase, 'breaks', { modify: { 'a.txt': [LINES, said('four')] } });
  const run = await matrix(codebase, '--triples', '0');
  expect(run).toMatchObject({ code: 4, json: { ok: false, outcome: 'failed' } });
  expect(dataOf(run).cells.map(({ skills, outcome }) => [skills.join('+'), outcome])).toEqual([
    ['breaks', 'failing'],
    ['first', 'clean'],
    ['shy', 'clean'],
    ['breaks+first', 'failing'],
    ['breaks+shy', 'failing'],
    ['first+shy', 'failing'],
  ]);
  expect(cellOf(run, 'breaks')?.failures).toMatchObject([{ kind: 'check' }]);
  const [failure] = cellOf(run, 'first', 'shy')?.failures ?? [];
  expect(failure).toMatchObject({ kind: 'test', name: 'shy' });
  expect(failure?.output).toContain('holds');
  const composed = await matrix(codebase, '--no-proof');
  expect(composed.code).toBe(0);
  expect(dataOf(composed)).toMatchObject({ proved: false, summary: { clean: 7 } });
});

test('a check that the core alone fails is a warning, whatever the owner has on disk', async () => {
  const files = { 'a.txt': LINES, 'claw.config.yaml': "check: ['grep -q eight a.txt']\n" };
  await using codebase = temporaryCodebase(files, { git: true });
  addLine(codebase, 'first', 'one');
  codebase.write({ 'a.txt': `${LINES}eight\n` });
  const run = await matrix(codebase);
  expect(run.code).toBe(0);
  expect(run.json.warnings.join()).toContain('grep -q eight a.txt fails');
  const onDisk = await matrix(codebase, '--release', '.');
  expect(onDisk).toMatchObject({ code: 0, json: { warnings: [] } });
  expect(dataOf(onDisk).core.from).toBe('folder');
});

test('a skill is composed with what it depends on, and follows renames and path maps', async () => {
  const migrations = '- since: 1.5.0\n  description: moved\n  path_map: { a.txt: text/a.txt }\n';
  const files = {
    'package.json': '{ "version": "2.0.0" }\n',
    'text/a.txt': LINES,
    'migrations.yaml': migrations,
  };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'base', { core: '2.0.0', add: { 'lib.txt': 'lib\n' } });
  const lib = passes("existsSync(new URL('../../../lib.txt', import.meta.url))");
  addSkill(codebase, 'user', {
    core: '1.0.0',
    modify: { 'a.txt': [LINES, said('one')] },
    manifest: { depends: ['base'] },
    tests: { 'lib.test.mjs': lib },
  });
  addSkill(codebase, 'mover', {
    core: '2.0.0',
    base: { 'text/a.txt': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'text/a.txt', to: 'words.txt' }] },
  });
  const run = await matrix(codebase, 'user', 'mover');
  expect(run.code).toBe(0);
  expect(dataOf(run).skills).toEqual(['mover', 'user']);
  expect(cellOf(run, 'mover', 'user')).toMatchObject({ shares: ['text/a.txt'], outcome: 'clean' });
});

test('three skills that meet in one file are tried together, most in common first', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': LINES }, { git: true });
  for (const [name, word] of Object.entries({ v: 'one', w: 'three', x: 'five', y: 'seven' })) {
    const modify = { 'a.txt': [LINES, said(word)] as const };
    const more = { ...modify, 'b.txt': [LINES, said(word)] as const };
    addSkill(codebase, name, { modify: name === 'v' ? modify : more });
  }
  addLine(codebase, 'z', 'one', 'other');
  const triples = (run: ClawRun) =>
    dataOf(run).cells.flatMap(({ skills }) => (skills.length === 3 ? [skills.join('')] : []));
  const run = await matrix(codebase, '--no-proof');
  expect(cellOf(run, 'v', 'z')?.outcome).toBe('conflict');
  expect(triples(run)).toEqual(['wxy', 'vwx', 'vwy', 'vxy', 'wxz', 'wyz', 'xyz']);
  expect(triples(await matrix(codebase, '--no-proof', '--triples', '2'))).toEqual(['wxy', 'vwx']);
  const wrong = await codebase.claw('matrix', '--jobs', '0');
  expect(wrong).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
});

test('packages that a composition needs are installed for its proof, and nowhere else', async () => {
  const files = {
    'package.json': '{ "name": "app", "version": "1.0.0" }\n',
    '.gitignore': 'node_modules\n',
  };
  await using codebase = temporaryCodebase(files, { git: true });
  const uses = "(await import('is-number')).default(5)";
  for (const name of ['five', 'six']) {
    addSkill(codebase, name, {
      manifest: { structured: { npm_dependencies: { 'is-number': '^7.0.0' } } },
      tests: { 'n.test.mjs': passes(uses).replace('() =>', 'async () =>') },
    });
  }
  addSkill(codebase, 'never', {
    manifest: { structured: { npm_dependencies: { 'is-number': '^999.0.0' } } },
    tests: { 'n.test.mjs': passes('true') },
  });
  const run = await matrix(codebase);
  expect(run.code).toBe(4);
  expect(codebase.has('node_modules')).toBe(false);
  expect(cellOf(run, 'five', 'six')).toMatchObject({ outcome: 'clean', shares: ['npm:is-number'] });
  expect(cellOf(run, 'never')?.failures).toMatchObject([{ kind: 'npm' }]);
  expect(cellOf(run, 'five', 'never')?.outcome).toBe('conflict');
});

test('packages may lie anywhere; a name that nothing has is refused', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  await using elsewhere = temporaryCodebase(
    skillFiles('guest', { modify: { 'a.txt': [LINES, said('two')] } }),
  );
  addLine(codebase, 'host', 'seven');
  const run = await matrix(codebase, 'host', elsewhere.root);
  expect(run.code).toBe(0);
  expect(cellOf(run, 'guest', 'host')?.outcome).toBe('clean');
  const lost = await matrix(codebase, 'hots');
  expect(lost).toMatchObject({ code: 1, json: { error: { code: 'SKILL_NOT_FOUND' } } });
  const twin = await matrix(codebase, 'host', codebase.path('skills/host'));
  expect(twin).toMatchObject({ code: 1, json: { error: { code: 'GRAPH_INVALID' } } });
});

test('people get a triangle with a legend', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addLine(codebase, 'east', 'one', 'East');
  addLine(codebase, 'a-name-that-is-longer-than-a-column', 'seven');
  addLine(codebase, 'west', 'one', 'West');
  addSkill(codebase, 'apart', { add: { 'b.txt': 'b\n' } });
  const run = spawnSync(process.execPath, [CLAW, 'matrix', '--cwd', codebase.root], {
    encoding: 'utf8',
  });
  expect(run.status).toBe(3);
  expect(
    run.stdout,
  ).toBe(`4 skills on core 1.0.0 (tag ${codebase.git('rev-parse', 'HEAD').slice(0, 7)})

                            1  2  3  4
1 a-name-that-is-longer-t…  ✓
2 apart                     ·  ✓
3 east                      ✓  ·  ✓
4 west                      ✓  ·  ✗  ✓

✓ 6 clean   ✗ 1 conflict   · 3 with nothing in common

✗ east + west: conflict
  a.txt  content, east against west
    east and west change the same lines.
`);
});

test('Ctrl-C ends the proofs and leaves nothing behind', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  // No other process has this name.
  const test = `forever-${process.pid}.test.mjs`;
  const forever = `import test from 'node:test';\ntest('x', () => new Promise((r) => setTimeout(r, 600_000)));\n`;
  for (const name of ['one', 'two', 'three']) {
    addSkill(codebase, name, { add: { [name]: 'x\n' }, tests: { [test]: forever } });
  }
  const before = codebase.tree();
  const child = spawn(process.execPath, [CLAW, 'matrix', '--json', '--cwd', codebase.root], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  while (!isRunning(test) && child.exitCode === null) await sleep(20);
  expect(stderr).toContain('Proving 3');
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'failed', error: { code: 'INTERRUPTED' } });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw')).toBe(false);
});

/** Tells whether a process of this machine was started with that in its arguments. */
function isRunning(argument: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argument);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

test('proofs run elsewhere only where a skill brings that', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addLine(codebase, 'first', 'one');
  for (const name of ['nowhere', 'proof-runner', '../verbs/far']) {
    const run = await matrix(codebase, '--on', name);
    expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
    expect(run.json.error?.message).toContain(`Nothing here runs proofs on "${name}"`);
  }
  expect(await matrix(codebase, '--on', 'nowhere', '--no-proof')).toMatchObject({ code: 0 });
});

test('a matrix of nothing says so', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  const run = await matrix(codebase);
  expect(run).toMatchObject({ code: 0, json: { ok: true, outcome: 'nothing' } });
});
