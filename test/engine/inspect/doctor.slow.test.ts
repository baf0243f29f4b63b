import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const STATE = '.claw/state.yaml';

type Finding = { area: string; ok: boolean; message: string; advice: string | null };

async function installation(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  return codebase;
}

/** Runs the doctor, and checks that it looked at everything and touched nothing. */
async function examine(codebase: Codebase): Promise<Record<string, Finding>> {
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('doctor');
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  const { findings } = run.json.data as { findings: Finding[] };
  const isWell = findings.every(({ ok }) => ok);
  expect(run).toMatchObject({
    code: isWell ? 0 : 1,
    json: { ok: isWell, outcome: isWell ? 'done' : 'failed', error: null },
  });
  for (const { ok, advice } of findings) expect(ok || advice !== null).toBe(true);
  return Object.fromEntries(findings.map((finding) => [finding.area, finding]));
}

/** Runs the command of an advice, which stands before a `;`, `,`, or two spaces, in the project. */
function follow(codebase: Codebase, advice: string | null | undefined, pattern: RegExp): void {
  const command = pattern.exec(advice ?? '')?.[0];
  expect(command, advice ?? '').toBeDefined();
  execFileSync('sh', ['-c', command ?? 'false'], { cwd: codebase.root, stdio: 'pipe' });
}

test('a healthy installation is well in every respect', async () => {
  await using codebase = await installation();
  const found = await examine(codebase);
  expect(Object.keys(found)).toEqual([
    'node',
    'git',
    'sandbox',
    'disk',
    'state',
    'base',
    'composed',
    'packages',
    'resolutions',
    'folder',
    'lock',
    'journal',
    'pending',
    'config',
    'checks',
    'edits',
  ]);
  expect(Object.values(found).filter(({ ok }) => !ok)).toEqual([]);
  expect(found['packages']?.message).toBe('1 package, whole');
});

test('a codebase that claw has never seen is well, and stays untouched', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' });
  const found = await examine(codebase);
  expect(found).toMatchObject({ state: { ok: true }, config: { ok: true } });
  expect(found['base']).toBe(undefined);
  expect(codebase.has('.claw')).toBe(false);
});

test('people get a line for each finding, with the advice below it', async () => {
  await using codebase = await installation();
  codebase.write({ 'src/a.ts': 'mine\n', 'claw.config.yaml': 'check: 5\n' });
  const run = spawnSync(process.execPath, [CLAW, 'doctor', '--cwd', codebase.root], {
    encoding: 'utf8',
  });
  expect(run.status).toBe(1);
  expect(run.stdout).toMatch(/^✓ node +Node \d+/);
  expect(run.stdout).toMatch(/^✗ config +claw\.config\.yaml:check/m);
  expect(run.stdout).toMatch(/1 of these needs you\.\n$/);
  expect(run.stderr).toBe('');
  codebase.remove('claw.config.yaml');
  const well = spawnSync(process.execPath, [CLAW, 'doctor', '--cwd', codebase.root], {
    encoding: 'utf8',
  });
  expect(well.stdout).toMatch(/^! edits +1 file edited and not recorded.*\n +claw customize/m);
  expect(well).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/Everything works.*\.\n$/),
  });
});

test('a state that cannot be read is explained, and taken back where a good one is kept', async () => {
  await using codebase = await installation();
  const state = codebase.read(STATE);
  const bad: readonly (readonly [text: string, message: RegExp])[] = [
    [state.slice(0, 300), /state\.yaml, line \d+: /],
    [state.replace(/^version: 1/m, 'version: 99'), /newer claw \(format 99\)/],
    [state.replace('name: demo', 'name: [}'), /line \d+/],
    ['\u0000\u0001nonsense', /state\.yaml/],
    [`<<<<<<< HEAD\n${state}=======\n${state}>>>>>>> other\n`, /line 1: git left conflict markers/],
  ];
  for (const [text, message] of bad) {
    codebase.write({ [STATE]: text });
    const { state: finding } = await examine(codebase);
    expect(finding).toMatchObject({ ok: false, message: expect.stringMatching(message) });
    expect(finding?.advice).not.toContain('git checkout');
    follow(codebase, finding?.advice, /cp \.claw\/backup\/\S+ \S+/);
    expect(codebase.read(STATE)).toBe(state);
  }
  commitAll(codebase, 'installed');
  codebase.remove('.claw/backup');
  codebase.write({ [STATE]: 'version: 1\n' });
  const { state: finding } = await examine(codebase);
  expect(finding?.advice).not.toContain('.claw/backup');
  follow(codebase, finding?.advice, /git checkout HEAD -- \S+yaml/);
  expect(codebase.read(STATE)).toBe(state);
  expect((await examine(codebase))['state']).toMatchObject({ ok: true });
});

test('where no good copy is left, the way on is said, and works', async () => {
  await using codebase = await installation();
  codebase.remove('.claw/backup');
  codebase.write({ [STATE]: 'version: 1\n' });
  const before = codebase.tree();
  const { state: finding } = await examine(codebase);
  expect(finding?.advice).toContain('claw init');
  codebase.remove(STATE);
  expect((await examine(codebase))['state']).toMatchObject({
    ok: false,
    message: expect.stringContaining('is gone'),
  });
  expect((await codebase.claw('init')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
  expect((await examine(codebase))['state']).toMatchObject({ ok: true });
});

test('damaged or missing bytes in .claw are named, and the advice mends them', async () => {
  await using codebase = await installation();
  const whole = codebase.state();
  const places = {
    base: '.claw/base/src/a.ts',
    composed: '.claw/composed/src/a.ts',
    packages: '.claw/packages/demo.package',
  };
  for (const [area, path] of Object.entries(places)) {
    for (const damage of [
      () => codebase.write({ [path]: 'damaged\n' }),
      () => codebase.remove(path),
    ]) {
      damage();
      const { [area]: finding, ...others } = await examine(codebase);
      expect(finding, area).toMatchObject({
        ok: false,
        advice: expect.stringMatching(/^claw replay/),
      });
      expect(Object.values(others).filter(({ ok }) => !ok)).toEqual([]);
      expect((await codebase.claw('replay')).json.error).toBe(null);
      expect(codebase.state()).toEqual(whole);
    }
  }
  commitAll(codebase, 'installed');
  for (const [area, path] of Object.entries(places)) {
    codebase.remove(path);
    const finding = (await examine(codebase))[area];
    follow(codebase, finding?.advice, /^git checkout HEAD -- [^;]+/);
    expect(codebase.state()).toEqual(whole);
  }
});

test('an operation that waits, and one of another branch', async () => {
  await using codebase = await installation();
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('ONE', 'mine') });
  expect((await codebase.claw('remove', 'demo')).code).toBe(3);
  const { pending, edits } = await examine(codebase);
  expect(pending).toMatchObject({
    ok: true,
    message: expect.stringMatching(/"remove demo" waits .* src\/a\.ts/),
    advice: expect.stringMatching(/claw conflicts.*resolve.*continue.*abort/),
  });
  expect(edits?.message).toMatch(/^1 file /);
  codebase.write({ [STATE]: `${codebase.read(STATE)}# merged\n` });
  expect((await examine(codebase))['pending']).toMatchObject({
    ok: false,
    message: expect.stringContaining('another .claw/state.yaml'),
  });
  codebase.write({ '.claw/pending/.claw-operation.yaml': '{[' });
  expect((await examine(codebase))['pending']).toMatchObject({
    ok: false,
    advice: expect.stringContaining('claw abort'),
  });
});

test('a command that was cut short is named and not finished by looking', async () => {
  await using codebase = await installation();
  const ids = fs.readdirSync(codebase.path('.claw/backup'));
  const id = ids.find((name) => name !== '.gitignore') ?? '';
  const record = codebase.read(`.claw/backup/${id}/record.json`);
  fs.mkdirSync(codebase.path(`.claw/tx/${id}`), { recursive: true });
  codebase.write({ [`.claw/tx/${id}/journal.json`]: record });
  expect((await examine(codebase))['journal']).toMatchObject({
    ok: false,
    message: expect.stringContaining('"apply demo" was cut short'),
    advice: expect.stringContaining('claw recover'),
  });
  expect(codebase.has(`.claw/tx/${id}/journal.json`)).toBe(true);
  codebase.write({ [`.claw/tx/${id}/journal.json`]: record.slice(0, 50) });
  expect((await examine(codebase))['journal']).toMatchObject({
    ok: false,
    advice: expect.stringContaining('--keep-mine'),
  });
});

test('what keeps commands from locking, and checks that cannot run', async () => {
  await using codebase = await installation();
  fs.mkdirSync(codebase.path('.claw/lock.db'));
  expect((await examine(codebase))['lock']).toMatchObject({ ok: false });
  fs.rmdirSync(codebase.path('.claw/lock.db'));
  codebase.write({
    'claw.config.yaml': "check: [no-such-program --all, 'true && true', node -v]\n",
  });
  const { checks } = await examine(codebase);
  expect(checks).toMatchObject({ ok: false, message: 'Not found: no-such-program --all.' });
  codebase.write({ 'claw.config.yaml': 'check: *nothing\n' });
  const { config, checks: unknown } = await examine(codebase);
  expect(config).toMatchObject({ ok: false });
  expect(unknown).toBe(undefined);
});

test('a recording that cannot be read is named', async () => {
  await using codebase = await installation();
  const path = '.claw/resolutions/0123456789abcdef.yaml';
  codebase.write({ [path]: '{[' });
  expect((await examine(codebase))['resolutions']).toMatchObject({
    ok: false,
    message: expect.stringContaining(path),
  });
});

test.each([
  ['.claw as a file', (root: string) => fs.rmSync(`${root}/.claw`, { recursive: true }), '.claw'],
  ['state.yaml as a folder', (root: string) => fs.rmSync(`${root}/${STATE}`), `${STATE}/x`],
  [
    'backup as a file',
    (root: string) => fs.rmSync(`${root}/.claw/backup`, { recursive: true }),
    '.claw/backup',
  ],
  [
    'tx as a file',
    (root: string) => fs.rmSync(`${root}/.claw/tx`, { recursive: true }),
    '.claw/tx',
  ],
  ['a damaged repository', () => {}, '.git/HEAD'],
])('the doctor looks on at %s', async (_, clear, path) => {
  await using codebase = await installation();
  clear(codebase.root);
  codebase.write({ [path]: 'odd\n' });
  const run = await codebase.claw('doctor');
  expect(run).toMatchObject({ code: 1, json: { outcome: 'failed', error: null } });
});
