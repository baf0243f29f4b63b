import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { TreeFile } from '../../../../merge/src/versions.ts';
import type { PackedEdit } from './packed-edit.ts';
import { type TestStub, testStub } from './test-stub.ts';

const file = (text: string): TreeFile => ({ bytes: Buffer.from(text), isExecutable: false });

function edit(path: string, before: string | null, after: string): PackedEdit {
  return { path, before: before === null ? null : file(before), after: file(after) };
}

function codebase(testCommand: string, files: Readonly<Record<string, string>> = {}) {
  const releaseFile = (path: string) => (path in files ? file(files[path] ?? '') : null);
  return { testCommand, releaseFile };
}

const SCRIPT = [edit('src/a.ts', 'export const one = 1;\n', 'export const one = 2;\n')];
const PLAIN_SCRIPT = [edit('src/a.js', null, 'export function roll() {\n  return 4;\n}\n')];
const PYTHON = [edit('dice/roll.py', null, 'def roll(count=1):\n    return [4] * count\n')];
const NOTES = [edit('notes.txt', 'a\n', 'a\nit\'s "b" \\ é\n')];

test('the title of a begun test says what it looks at, also of what the core has already', () => {
  const { text = '' } = testStub('dice', codebase('vitest run'), SCRIPT) ?? {};
  expect(text).toContain("test('with dice, src/a.ts exports one'");
  expect(text).toContain("assert.ok('one' in subject);");
  const line = testStub('dice', codebase('vitest run'), [edit('notes.txt', 'a\n', 'a\nb\n')]);
  expect(line?.text).toContain("test('with dice, notes.txt holds a line that it writes'");
  expect(line?.text).toContain("assert.ok(text.includes('b'));");
});

test.each([
  ['vitest run', SCRIPT, {}, 'tests/dice.test.ts', "import { test } from 'vitest';"],
  ['node --test', SCRIPT, {}, 'tests/dice.test.ts', "import { test } from 'node:test';"],
  ['node --test', PLAIN_SCRIPT, {}, 'tests/dice.test.mjs', "import { test } from 'node:test';"],
  ['node --test', PLAIN_SCRIPT, { 'tsconfig.json': '{}' }, 'tests/dice.test.ts', 'subject'],
  ['npm test --', PLAIN_SCRIPT, scripts('mocha'), 'tests/dice.test.mjs', "from 'mocha';"],
  [
    'pnpm run unit',
    PLAIN_SCRIPT,
    scripts('jest', 'unit'),
    'tests/dice.test.js',
    "require('node:fs')",
  ],
  ['bun test', PLAIN_SCRIPT, {}, 'tests/dice.test.mjs', "import { test } from 'bun:test';"],
  ['pytest -q', PYTHON, {}, 'tests/test_dice.py', 'def test_dice():'],
  ['python3 -m unittest', PYTHON, {}, 'tests/test_dice.py', 'class SkillTest(unittest.TestCase):'],
] as const)(
  'for “%s” a test is begun in its language (%#)',
  (command, edits, files, path, part) => {
    const stub = testStub('dice', codebase(command, files), edits);
    expect(stub?.path).toBe(path);
    expect(stub?.text).toContain(part);
  },
);

test.each(['go test', 'cargo test', 'make check'])('for “%s” none is begun', (command) => {
  expect(testStub('dice', codebase(command), PYTHON)).toBeNull();
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.each([
  ['node --test', PLAIN_SCRIPT],
  ['node --test', NOTES],
  ['python3 -m unittest', PYTHON],
  ['python3 -m unittest', NOTES],
] as const)(
  'a begun test for “%s” passes with the skill, and fails without it (%#)',
  (command, edits) => {
    if (command.startsWith('python3') && !hasPython) return;
    const stub = testStub('dice', codebase(command), edits);
    if (stub === null) throw new Error('no test was begun');
    expect(outcomeOf(command, stub, edits, 'after')).toBe(0);
    expect(outcomeOf(command, stub, edits, 'before')).toBeGreaterThan(0);
  },
);

function scripts(command: string, name = 'test'): Readonly<Record<string, string>> {
  return { 'package.json': JSON.stringify({ scripts: { [name]: command } }) };
}

/** Runs a test where a proof has it, in a tree with what the edits leave, or what they found. */
function outcomeOf(
  command: string,
  { path, text }: TestStub,
  edits: readonly PackedEdit[],
  side: 'before' | 'after',
): number | null {
  const root = mkdtempSync(join(tmpdir(), 'claw-test-stub-'));
  const put = (at: string, bytes: string | Buffer) => {
    mkdirSync(dirname(join(root, at)), { recursive: true });
    writeFileSync(join(root, at), bytes);
  };
  try {
    put('package.json', '{ "type": "module" }');
    for (const one of edits) if (one[side] !== null) put(one.path, one[side].bytes);
    put(`skills/dice/${path}`, text);
    const [program = '', ...args] = [...command.split(' '), `skills/dice/${path}`];
    const env = { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined };
    const node = program === 'node' ? process.execPath : program;
    return spawnSync(node, args, { cwd: root, env }).status;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
