import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { census, inject } from '../../../packages/claw/src/transaction/testing/strace.ts';
import {
  CLAW,
  type Codebase,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, packagedSkills, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);
const isSkipped = spawnSync('strace', ['--version']).status !== 0;
const title = 'an update that is killed';

/**
 * Makes a tree on which an update changes, moves, adds and deletes files, changes packages, and runs a
 * migration.
 */
async function installation(): Promise<Codebase> {
  const demo = { modify: { 'src/a.ts': [LINES, line('one', 'demo')] as const } };
  const codebase = temporaryCodebase(
    {
      'package.json': versioned('1.0.0'),
      'src/a.ts': LINES,
      'old/b.ts': LINES,
      'gone/c.ts': 'c\n',
      ...packagedSkills({ demo }),
    },
    { git: true },
  );
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/a.ts': line('nine', 'NINE'),
      'new/b.ts': line('nine', 'NINE'),
      'migrations.yaml': '- {since: 1.1.0, skill: keep, path_map: {old/: new/}}\n',
    },
    gone: ['old', 'gone'],
    skills: {
      demo: { ...demo, version: '1.1.0' },
      keep: { core: '1.1.0', add: { 'kept/k.ts': 'k\n' } },
    },
  });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  codebase.write({ 'old/b.ts': line('five', 'mine') });
  return codebase;
}

const update = (codebase: Codebase) => [
  process.execPath,
  CLAW,
  'update',
  'v1.1.0',
  '--json',
  '--cwd',
  codebase.root,
];
const snapshot = (codebase: Codebase) => {
  const { 'state.yaml': state = '', ...kept } = codebase.state();
  // The hour at which the migration's skill came.
  return { tree: codebase.tree(), ...kept, 'state.yaml': state.replace(/installed: .*/g, '') };
};

describe.skipIf(isSkipped)(isSkipped ? `${title} (strace is missing)` : title, () => {
  let start: Codebase;
  let before: object;
  let after: object;
  let counts: Readonly<Record<string, number>>;
  const copies: Codebase[] = [];

  const copy = (): Codebase => {
    const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-killed-')));
    execFileSync('cp', ['-a', `${start.root}/.`, root]);
    copies.push(openCodebase(root));
    return openCodebase(root);
  };

  beforeAll(async () => {
    start = await installation();
    copies.push(start);
    before = snapshot(start);
    const done = copy();
    counts = await census(update(done), `${done.root}.log`);
    fs.rmSync(`${done.root}.log`);
    after = snapshot(done);
    expect(done.read('new/b.ts')).toBe(line('five', 'mine', line('nine', 'NINE')));
    expect(done.read('kept/k.ts')).toBe('k\n');
  });

  afterAll(async () => {
    for (const one of copies) await one[Symbol.asyncDispose]();
  });

  for (const call of ['rename', 'link', 'unlink', 'mkdir', 'rmdir', 'fsync']) {
    test.concurrent(`at any ${call} leaves exactly before or exactly after`, async () => {
      const count = counts[call] ?? 0;
      expect(count).toBeGreaterThan(0);
      for (const nth of new Set([Math.ceil(count / 2), count])) {
        const codebase = copy();
        const log = `${codebase.root}.log`;
        const run = await inject(update(codebase), log, { call, nth, effect: 'SIGKILL' });
        fs.rmSync(log);
        // Threads share the count of the census, but not that of the injection.
        if (!run.isHit) continue;
        expect(await codebase.claw('status')).toMatchObject({ code: 0 });
        const isAfter = codebase.has('kept/k.ts');
        expect(snapshot(codebase)).toEqual(isAfter ? after : before);
        if (!isAfter) expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
        expect(snapshot(codebase)).toEqual(after);
        await codebase[Symbol.asyncDispose]();
      }
    });
  }
});
