import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const KILLS = Number(process.env['CLAW_KILLS'] ?? 20);

function installation(): Codebase {
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`src/f${n}.ts`, LINES]));
  const codebase = temporaryCodebase(files, { git: true });
  const changed = LINES.replace('one', 'ONE');
  addSkill(codebase, 'demo', {
    add: Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`new/n${n}.ts`, `${n}\n`])),
    modify: Object.fromEntries(Object.keys(files).map((path) => [path, [LINES, changed] as const])),
  });
  return codebase;
}

test(`SIGKILL at ${KILLS} random moments of an apply leaves exactly before or after`, async () => {
  await using codebase = installation();
  const before = codebase.tree();
  const started = performance.now();
  await codebase.claw('apply', 'demo');
  const duration = performance.now() - started;
  const after = codebase.tree();
  await codebase.claw('remove', 'demo');
  const ends = { before: 0, after: 0 };
  for (let kill = 0; kill < KILLS; kill += 1) {
    // Spread evenly over the second half of the run, where the disk is written, with some jitter.
    const moment = duration * (0.3 + (0.8 * (kill + Math.random())) / KILLS);
    await applyAndKill(codebase, moment);
    expect(await codebase.claw('status')).toMatchObject({ code: 0 });
    const tree = codebase.tree();
    const isAfter = JSON.stringify(tree) === JSON.stringify(after);
    if (!isAfter) expect(tree).toEqual(before);
    ends[isAfter ? 'after' : 'before'] += 1;
    const applied = (await codebase.claw('list')).json.data as unknown[];
    expect(applied.length).toBe(isAfter ? 1 : 0);
    if (isAfter) expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  }
  expect(ends.before + ends.after).toBe(KILLS);
}, 600_000);

async function applyAndKill(codebase: Codebase, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [CLAW, 'apply', 'demo', '--json', '--cwd', codebase.root], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  await ended;
  clearTimeout(timer);
}

test('six applies at once: each is done or named as locked, and all skills are there in the end', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const names = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'];
  for (const name of names) addSkill(codebase, name, { add: { [`${name}.txt`]: name } });
  const runs = await Promise.all(names.map((name) => codebase.claw('apply', name)));
  for (const run of runs) expect([0, 5]).toContain(run.code);
  for (const run of runs.filter(({ code }) => code === 5)) {
    expect(run.json).toMatchObject({ outcome: 'locked', error: { code: 'LOCK_HELD' } });
  }
  const applied = (await codebase.claw('list')).json.data as { name: string }[];
  const done = names.filter((_, index) => runs[index]?.code === 0);
  expect(applied.map(({ name }) => name).sort()).toEqual(done);
  for (const name of done) expect(codebase.read(`${name}.txt`)).toBe(name);
});
