import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Case,
  CrashMatrix,
  type Verdict,
} from '../packages/claw/src/transaction/testing/matrix.ts';
import { type Starved, StarvedCommand } from '../src/testing/claw/starved-command.ts';
import { SCENARIOS } from '../src/testing/claw/starved-scenarios.ts';

// Breaks a commit at every call that changes a folder, and its recovery as well; then whole commands, on a
// disk that stays broken from each of their calls on; then kills a backup, a restore and an import at every
// call. Needs strace. `npm run crash-matrix -- commands` runs the second part alone,
// `npm run crash-matrix -- backup restore` these of the third, and `npm run crash-matrix -- 'one EIO' 'EIO from
// then on'` these lists of the first part. `--cases 40` tries at most 40 cases of each list, spread over it; of the
// third part, 40 of each kind of call.
const ERRORS = ['ENOSPC', 'EACCES', 'EIO'] as const;
const { values, positionals: wanted } = parseArgs({
  options: { cases: { type: 'string' } },
  allowPositionals: true,
});
const most = values.cases === undefined ? Number.POSITIVE_INFINITY : Number(values.cases);
if (!(most >= 1)) throw new Error(`--cases ${values.cases}: give a number from 1 on`);
/** Tests that kill what keeps or brings in the owner's work, by the names of their lists. */
const KILL_TESTS: ReadonlyMap<string, string> = new Map([
  ['backup', 'src/store/backup/killed.slow.test.ts'],
  ['restore', 'src/store/backup/restore.slow.test.ts'],
  ['import', 'src/import/tests/kill.slow.test.ts'],
]);
const parts = ['commands', ...KILL_TESTS.keys()];
const folder = mkdtempSync(join(tmpdir(), 'crash-matrix-'));
try {
  const isAll = wanted.length === 0;
  const isCommands = wanted.includes('commands');
  const isRight =
    (!isAll && wanted.every((name) => parts.includes(name))) || (await breakCommits());
  const areRight = (!isAll && !isCommands) || (await starveCommands());
  const tests = [...KILL_TESTS].filter(([name]) => isAll || wanted.includes(name));
  const areSafe = tests.map(([, file]) => passes(file)).every((isPassed) => isPassed);
  process.exitCode = isRight && areRight && areSafe ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function breakCommits(): Promise<boolean> {
  const matrix = new CrashMatrix(folder);
  const points = await matrix.points();
  const cases: readonly (readonly [name: string, cases: readonly Case[]])[] = [
    ['killed', points.map((point) => ({ commit: { ...point, effect: 'SIGKILL' } }))],
    [
      'killed, and its recovery killed',
      points.map((point, index) => ({
        commit: { ...point, effect: 'SIGKILL' },
        recover: { call: point.call, nth: 1 + (index % 5), effect: 'SIGKILL' },
      })),
    ],
    ...ERRORS.map((effect): readonly [string, readonly Case[]] => [
      `one ${effect}`,
      points.map((point) => ({ commit: { ...point, effect } })),
    ]),
    ...ERRORS.map((effect): readonly [string, readonly Case[]] => [
      `${effect} from then on`,
      points.map((point) => ({ commit: { ...point, effect, isPersistent: true } })),
    ]),
  ];
  const names = cases.map(([name]) => name);
  const unknown = wanted.find((name) => !parts.includes(name) && !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`no list is called ${unknown}; there are ${[...parts, ...names].join(', ')}`);
  }
  const chosen = cases.filter(([name]) => wanted.length === 0 || wanted.includes(name));
  const wrong: Verdict[] = [];
  for (const [name, list] of chosen) {
    const verdicts = await inPairs(spread(list), (tried) => matrix.try(tried));
    const bad = verdicts.filter((verdict) => !verdict.isRight);
    wrong.push(...bad);
    console.log(`${name}: ${counted(verdicts)}, ${bad.length} wrong`);
  }
  for (const { tried, tree, detail } of wrong.slice(0, 20))
    console.log(JSON.stringify(tried), tree, detail);
  return wrong.length === 0;
}

async function starveCommands(): Promise<boolean> {
  const wrong: Starved[] = [];
  for (const scenario of SCENARIOS) {
    const command = new StarvedCommand(folder, scenario);
    const points = await command.points();
    for (const error of ['ENOSPC', 'EIO'] as const) {
      const runs = await inPairs(spread(points), (point) => command.try({ ...point, error }));
      const hits = runs.filter(({ isHit }) => isHit);
      const bad = runs.filter(({ faults }) => faults.length > 0);
      wrong.push(...bad);
      console.log(
        `${scenario.name}, ${error} from then on: ${counted(hits)}, ${bad.length} wrong, ` +
          `${runs.length - hits.length} missed`,
      );
    }
  }
  for (const one of wrong.slice(0, 20)) console.log(JSON.stringify(one));
  return wrong.length === 0;
}

/** Runs a test with more kills than usual; it prints what it has counted, and expects that some kills came late. */
function passes(file: string): boolean {
  const kills = Number.isFinite(most) ? Math.max(most, 6) : 100_000;
  const args = ['vitest', 'run', '--no-isolate', '--testTimeout=0', file, '-t', 'killed'];
  const env = { ...process.env, CLAW_KILLS: String(kills) };
  return spawnSync('npx', args, { env, stdio: 'inherit' }).status === 0;
}

function counted(runs: readonly { readonly tree: 'before' | 'after' | 'mixed' }[]): string {
  const count = (tree: 'before' | 'after' | 'mixed') =>
    runs.filter((one) => one.tree === tree).length;
  return `${runs.length} points, ${count('before')} before, ${count('after')} after, ${count('mixed')} mixed`;
}

/** Takes at most as many as `--cases` says, from the whole list. */
function spread<T>(list: readonly T[]): readonly T[] {
  const step = Math.max(1, list.length / most);
  const taken = Math.min(list.length, most);
  return Array.from({ length: taken }, (_, index) => list[Math.floor(index * step)]).filter(
    (one): one is T => one !== undefined,
  );
}

async function inPairs<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 2) {
    results.push(...(await Promise.all(items.slice(at, at + 2).map(run))));
  }
  return results;
}
