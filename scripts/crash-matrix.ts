import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Case,
  CrashMatrix,
  type Verdict,
} from '../packages/claw/src/transaction/testing/matrix.ts';
import { type Starved, StarvedCommand } from '../src/testing/claw/starved-command.ts';
import { SCENARIOS } from '../src/testing/claw/starved-scenarios.ts';

// Breaks a commit at every call that changes a folder, and its recovery as well; then whole commands, on a
// disk that stays broken from each of their calls on. Needs strace. `npm run crash-matrix -- commands`
// runs the second part alone.
const ERRORS = ['ENOSPC', 'EACCES', 'EIO'] as const;
const folder = mkdtempSync(join(tmpdir(), 'crash-matrix-'));
try {
  const isRight = process.argv[2] === 'commands' || (await breakCommits());
  const areRight = await starveCommands();
  process.exitCode = isRight && areRight ? 0 : 1;
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
  const wrong: Verdict[] = [];
  for (const [name, list] of cases) {
    const verdicts = await inPairs(list, (tried) => matrix.try(tried));
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
      const runs = await inPairs(points, (point) => command.try({ ...point, error }));
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

function counted(runs: readonly { readonly tree: 'before' | 'after' | 'mixed' }[]): string {
  const count = (tree: 'before' | 'after' | 'mixed') =>
    runs.filter((one) => one.tree === tree).length;
  return `${runs.length} points, ${count('before')} before, ${count('after')} after, ${count('mixed')} mixed`;
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
