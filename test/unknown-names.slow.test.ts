import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLAW, type Codebase, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const NOBODY = 'nobody-7';

/** For each verb that takes a name, calls with one that nothing has. */
const CALLS: Readonly<Record<string, readonly string[][]>> = {
  adopt: [[NOBODY]],
  apply: [[NOBODY]],
  backup: [[NOBODY], ['list', NOBODY], ['verify', NOBODY]],
  completion: [[NOBODY]],
  dev: [[NOBODY]],
  diff: [[NOBODY]],
  export: [[NOBODY]],
  groups: [[NOBODY]],
  help: [[NOBODY]],
  import: [[NOBODY]],
  logs: [[NOBODY], [NOBODY, '--follow']],
  matrix: [[NOBODY]],
  'merge-driver': [[NOBODY]],
  pack: [['mine', NOBODY]],
  plan: [['apply', NOBODY], ['remove', NOBODY], ['upgrade', NOBODY], ['update', NOBODY], [NOBODY]],
  remove: [[NOBODY]],
  resolutions: [['forget', NOBODY], [NOBODY]],
  resolve: [[NOBODY]],
  restore: [[NOBODY]],
  service: [[NOBODY]],
  sessions: [
    ['show', NOBODY],
    ['resume', NOBODY],
    ['delete', NOBODY, '--yes'],
  ],
  setup: [[NOBODY]],
  show: [[NOBODY]],
  tasks: [[NOBODY]],
  trace: [[NOBODY], ['--chat', NOBODY]],
  update: [[NOBODY]],
  upgrade: [[NOBODY]],
  why: [[NOBODY]],
};
/** Their words are no names of what is here. */
const OTHERS = ['chat', 'customize', 'merge-file'];
/** Say first that nothing is there to be named, or which words they take. */
const NOT_NAMED = ['merge-driver', 'resolutions', 'resolve', 'tasks'];

let codebase: Codebase;
beforeAll(async () => {
  codebase = temporaryCodebase(
    { 'a.txt': 'a\n', 'claw.config.yaml': 'check: []\n' },
    { git: true },
  );
  expect((await codebase.claw('init')).json.ok).toBe(true);
});
afterAll(async () => await codebase[Symbol.asyncDispose]());

test('the table has every verb that takes words', async () => {
  const { out } = await claw('--help');
  const verbs = [...out.matchAll(/^ {2}([a-z][a-z-]*)(?: \[options\])? [<[](?!options\])/gm)].map(
    ([, name]) => name,
  );
  expect(verbs.length).toBeGreaterThan(25);
  expect(verbs.sort()).toEqual([...Object.keys(CALLS), ...OTHERS].sort());
});

const ROWS = Object.entries(CALLS).flatMap(([verb, calls]) =>
  calls.map((words) => [verb, ...words]),
);

test.each(ROWS.map((words) => [words.join(' '), words] as const))(
  'claw %s fails and says that it does not know the name',
  async (_, words) => {
    const { code, out, err } = await claw(...words);
    expect([1, 2]).toContain(code);
    expect(out).toBe('');
    if (!NOT_NAMED.includes(words[0] ?? '')) expect(err).toContain(NOBODY);
  },
);

/** Verbs that take one of their own words, or a name: the word that a misspelled one may mean. */
const MISSPELLED = [
  ['backup lst', 'backup list'],
  ['backup verfy a.zst', 'backup verify'],
  ['backup drill', 'backup --drill'],
  ['groups registr', 'groups register'],
  ['resolutions forgt 0000000000000000', 'resolutions forget'],
  ['sessions sohw 1a2b', 'sessions show'],
  ['tasks puase 1', 'pause'],
] as const;

test.each(MISSPELLED)('claw %s does nothing and names %s', async (typed, meant) => {
  const before = readdirSync(codebase.root);
  const { code, out, err } = await claw(...typed.split(' '));
  expect([1, 2]).toContain(code);
  expect(out).toBe('');
  expect(err).toContain(meant);
  expect(readdirSync(codebase.root)).toEqual(before);
});

async function claw(...args: string[]) {
  const child = spawn(process.execPath, [CLAW, ...args], {
    cwd: codebase.root,
    env: { PATH: process.env['PATH'], HOME: join(codebase.root, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  return { code: await promise, out, err };
}
