import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inject } from '../../../packages/claw/src/transaction/testing/strace.ts';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const AFTER = LINES.replace('one', 'ONE');
const MINE = LINES.replace('seven', 'mine');
const PATHS = ['a.txt', 'b.txt', 'c.txt'];

/** An apply that was killed when two of three files were published; the third was edited since. */
async function killedApply(): Promise<Codebase> {
  const files = Object.fromEntries(PATHS.map((path) => [path, LINES]));
  const codebase = temporaryCodebase(files, { git: true });
  const modify = Object.fromEntries(PATHS.map((path) => [path, [LINES, AFTER] as const]));
  addSkill(codebase, 'demo', { modify });
  // By the same engine, so that its caches are there: they are renamed into place as well.
  execFileSync(process.execPath, [CLAW, 'init'], { cwd: codebase.root });
  const program = [process.execPath, CLAW, 'apply', 'demo', '--json', '--cwd', codebase.root];
  // The journal's rename is the first; then come the files.
  const log = join(codebase.root, '.git/trace');
  const run = await inject(program, log, { call: 'rename', nth: 4, effect: 'SIGKILL' });
  expect(run.isHit).toBe(true);
  expect(PATHS.map((path) => codebase.read(path))).toEqual([AFTER, AFTER, LINES]);
  codebase.write({ 'c.txt': MINE });
  return codebase;
}

const decisions = [
  ['--keep-mine', [AFTER, AFTER, MINE], MINE],
  ['--roll-forward', [AFTER, AFTER, AFTER], LINES],
  ['--roll-back', [LINES, LINES, MINE], null],
] as const;

for (const [decision, tree, undone] of decisions) {
  test(`an edit met by recovery stops every verb until ${decision}`, async () => {
    await using codebase = await killedApply();
    for (const verb of ['status', 'remove demo', 'plan remove demo', 'undo', 'abort', 'recover']) {
      const run = await codebase.claw(...verb.split(' '));
      const error = { code: 'RECOVERY_NEEDS_DECISION', path: 'c.txt' };
      expect(run, verb).toMatchObject({ code: 6, json: { ok: false, error } });
    }
    expect(await codebase.claw('recover', decision)).toMatchObject({
      code: 0,
      json: { outcome: 'done', data: { kept: ['c.txt'] } },
    });
    expect(PATHS.map((path) => codebase.read(path))).toEqual(tree);
    expect((await codebase.claw('status')).code).toBe(0);
    expect((await codebase.claw('recover')).json.outcome).toBe('nothing');
    if (undone === null) return;
    expect((await codebase.claw('undo')).code).toBe(0);
    expect(PATHS.map((path) => codebase.read(path))).toEqual([LINES, LINES, undone]);
  });
}
