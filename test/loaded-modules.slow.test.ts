import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addSkill, CLAW, temporaryCodebase } from '../src/testing/claw/codebase.ts';

/** A command that loads more than this is slower: load the rest when it is needed. */
const MOST = { status: 75, apply: 192, remove: 186, conflicts: 191, resolve: 110 };

/** These take as long as thirty modules each: an answer starts no program, and one that is a side is not parsed. */
const LARGE = /child_process|@babel\/parser/;

/** Notes what is loaded, and what Node's own resolution is asked for; claw's own hooks come before these. */
const RECORDER = `
const { appendFileSync } = require('node:fs');
const { registerHooks } = require('node:module');
const note = (what, name) => appendFileSync(process.env.LOADED, what + ' ' + name + '\\n');
registerHooks({
  resolve: (name, context, next) => (note('resolve', context.parentURL + ' ' + name), next(name, context)),
  load: (url, context, next) => (note('load', url), next(url, context)),
});`;

test('status, apply, remove and answers load few modules, and find those of src/ without Node’s search', async () => {
  await using codebase = temporaryCodebase({ 'a.ts': 'one\n' }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.ts': ['one\n', 'one\ntwo\n'] } });
  for (const name of ['mine', 'other']) {
    addSkill(codebase, name, { modify: { 'a.ts': ['one\n', `${name}\n`] } });
  }
  const folder = mkdtempSync(join(tmpdir(), 'claw-loaded-'));
  try {
    const recorder = join(folder, 'recorder.cjs');
    writeFileSync(recorder, RECORDER);
    const run = (...args: string[]) => {
      const list = join(folder, `${args[0]}.txt`);
      const env = { ...process.env, LOADED: list, NODE_OPTIONS: `--require ${recorder}` };
      spawnSync(process.execPath, [CLAW, ...args, '--yes', '--json'], {
        cwd: codebase.root,
        env,
      });
      return readFileSync(list, 'utf8').trim().split('\n');
    };
    const seen = {
      apply: run('apply', 'demo'),
      status: run('status'),
      remove: run('remove', 'demo'),
      blocked: run('apply', 'mine', 'other'),
      conflicts: run('conflicts'),
      resolve: run('resolve', 'a.ts', '--ours'),
    };
    for (const [verb, most] of Object.entries(MOST)) {
      const lines = seen[verb as keyof typeof seen];
      const loaded = lines.filter((line) => line.startsWith('load file:'));
      expect(loaded.length, loaded.join('\n')).toBeLessThanOrEqual(most);
      const searched = lines.filter((line) =>
        /^resolve \S+\/src\/\S+ \.\.?\/.*\.[jt]s$/.test(line),
      );
      expect(searched).toEqual([]);
    }
    expect(codebase.read('a.ts')).toBe('one\n');
    expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: [] });
    expect(seen.resolve.filter((line) => line.startsWith('load') && LARGE.test(line))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('compiled code is kept by paths from its folder, so that it is found in the copy that a proof runs in', () => {
  const { NODE_COMPILE_CACHE: _given, ...environment } = process.env;
  const env = { ...environment, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const { stderr } = spawnSync(process.execPath, [CLAW, '--version'], { env, encoding: 'utf8' });
  expect(stderr).toContain('using relative path ../../../../src/cli/main.ts');
});
