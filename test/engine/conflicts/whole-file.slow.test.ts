import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const BASE = `import { a } from './a.mjs';
import { b } from './b.mjs';

console.log(a, b);

export const mode = 'none';
`;
const U = "import { u } from './u.mjs';\n";
const MINE = U + BASE.replace('none', 'mine');
const OTHER = BASE.replace('\nimport', `\n${U}import`).replace('none', 'other');
const FILES = {
  'main.mjs': BASE,
  'a.mjs': 'export const a = 1;\n',
  'b.mjs': 'export const b = 1;\n',
  'u.mjs': 'export const u = 1;\n',
};

/** Both skills import one name, each at its own place, and disagree further down. */
async function twoImports(): Promise<Codebase> {
  const codebase = temporaryCodebase(FILES, { git: true });
  addSkill(codebase, 'mine', { modify: { 'main.mjs': [BASE, MINE] } });
  addSkill(codebase, 'other', { modify: { 'main.mjs': [BASE, OTHER] } });
  expect((await codebase.claw('apply', 'mine')).code).toBe(0);
  expect((await codebase.claw('apply', 'other')).code).toBe(3);
  return codebase;
}

const runs = (codebase: Codebase) =>
  execFileSync('node', ['main.mjs'], { cwd: codebase.root, encoding: 'utf8' });

test.each([
  ['--ours', MINE],
  ['--theirs', OTHER],
])(
  '%s of a conflict leaves no name declared twice by clean lines of the file',
  async (side, text) => {
    await using codebase = await twoImports();
    expect((await codebase.claw('resolve', 'main.mjs', side)).code).toBe(0);
    expect((await codebase.claw('continue')).code).toBe(0);
    expect(codebase.read('main.mjs')).toBe(text);
    expect(runs(codebase)).toBe('1 1\n');
  },
);

test('what would declare a name twice is refused: both sides, a text, a file', async () => {
  await using codebase = await twoImports();
  const twice = U + OTHER;
  codebase.write({ 'tmp/main.mjs': twice });
  const refused = {
    code: 1,
    json: {
      outcome: 'refused',
      error: {
        code: 'RESOLUTION_INVALID',
        path: 'main.mjs',
        message: expect.stringMatching(/has twice .*`u` \(lines 1 and \d\).*\. No side has/),
      },
    },
  };
  expect(await codebase.claw('resolve', 'main.mjs', '--both', 'ours')).toMatchObject(refused);
  expect(await codebase.claw('resolve', 'main.mjs', '--with', 'tmp/main.mjs')).toMatchObject(
    refused,
  );
  codebase.write({ '.claw/pending/main.mjs': twice });
  expect(await codebase.claw('resolve', 'main.mjs')).toMatchObject(refused);
  expect(await codebase.claw('continue')).toMatchObject(refused);
  expect(codebase.read('main.mjs')).toBe(MINE);
  codebase.write({ '.claw/pending/main.mjs': OTHER.replace('other', 'both') });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(runs(codebase)).toBe('1 1\n');
});

test('continue looks again at what was decided, and the decision can be made anew', async () => {
  await using codebase = await twoImports();
  codebase.write({ 'tmp/main.mjs': OTHER.replace('(a, b)', '(a, b, u)') });
  expect((await codebase.claw('resolve', 'main.mjs', '--with', 'tmp/main.mjs')).code).toBe(0);
  codebase.write({ '.claw/pending/.claw-decisions/0.text': U + OTHER });
  const refused = { code: 1, json: { error: { code: 'RESOLUTION_INVALID', path: 'main.mjs' } } };
  expect(await codebase.claw('continue')).toMatchObject(refused);
  expect(codebase.read('main.mjs')).toBe(MINE);
  expect((await codebase.claw('resolve', 'main.mjs', '--theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('main.mjs')).toBe(OTHER);
});

test('an answer that holds only with a change around it is not asked for again', async () => {
  const before = 'start();\nrun(1);\nend();\n\nstop();\n';
  const wrapped = `${before.replace('run(1)', 'if (a) {\n  run(1)')}}\n`;
  const plain = before.replace('run(1)', 'run(2)');
  await using codebase = temporaryCodebase({ 'main.mjs': before, 'x.txt': 'x\n' }, { git: true });
  addSkill(codebase, 'a', { modify: { 'main.mjs': [before, wrapped] } });
  addSkill(codebase, 'b', { modify: { 'main.mjs': [before, plain] } });
  addSkill(codebase, 'c', { modify: { 'x.txt': ['x\n', 'y\n'] } });
  expect((await codebase.claw('apply', 'a', 'b')).code).toBe(3);
  expect(await codebase.claw('resolve', 'main.mjs', '--theirs')).toMatchObject({
    json: { error: { code: 'RESOLUTION_INVALID' } },
  });
  codebase.write({ '.claw/pending/main.mjs': plain });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('main.mjs')).toBe(plain);
  expect((await codebase.claw('apply', 'c')).code).toBe(0);
  expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
  expect(codebase.read('main.mjs')).toBe(plain);
});

test.each([
  ['settings.yml', 'a: 1\nb: 2\nc: 3\n', 'port: 80\n', 'port: 8080\n'],
  ['deploy/local.env', 'A=1\nB=2\nC=3\n', 'PORT=80\n', 'PORT=8080\n'],
  ['main.ts', 'a();\nb();\nc();\n', "import { u } from './u.ts';\n", 'const u = 1;\n'],
])(
  'a key of %s that the owner and a skill both add is a conflict',
  async (path, base, mine, other) => {
    await using codebase = temporaryCodebase({ [path]: base, 'x.txt': 'x\n' }, { git: true });
    const lines = base.split('\n');
    const wanted = [...lines.slice(0, 2), other.trim(), ...lines.slice(2)].join('\n');
    addSkill(codebase, 'other', { modify: { [path]: [base, wanted] } });
    addSkill(codebase, 'x', { modify: { 'x.txt': ['x\n', 'y\n'] } });
    expect((await codebase.claw('apply', 'x')).code).toBe(0);
    codebase.write({ [path]: mine + base });
    const met = await codebase.claw('apply', 'other');
    expect(met).toMatchObject({
      code: 3,
      json: { conflicts: [{ path, layers: ['your edits', 'other'] }] },
    });
    expect(codebase.read(path)).toBe(mine + base);
    expect((await codebase.claw('resolve', path, '--ours')).code).toBe(0);
    expect((await codebase.claw('continue')).code).toBe(0);
    expect(codebase.read(path)).toBe(mine + base);
  },
);
