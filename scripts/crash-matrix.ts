import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Case, CrashMatrix, type Verdict } from '../src/engine/transaction/testing/matrix.ts';

// Breaks a commit at every call that changes a folder, and its recovery as well. Needs strace.
const ERRORS = ['ENOSPC', 'EACCES', 'EIO'] as const;
const folder = mkdtempSync(join(tmpdir(), 'crash-matrix-'));
try {
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
    const count = (tree: Verdict['tree']) => verdicts.filter((one) => one.tree === tree).length;
    const bad = verdicts.filter((verdict) => !verdict.isRight);
    wrong.push(...bad);
    console.log(
      `${name}: ${verdicts.length} points, ${count('before')} before, ${count('after')} after, ` +
        `${count('mixed')} mixed, ${bad.length} wrong`,
    );
  }
  for (const { tried, tree, detail } of wrong.slice(0, 20))
    console.log(JSON.stringify(tried), tree, detail);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
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
