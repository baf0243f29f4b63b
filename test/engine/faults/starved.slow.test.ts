import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Starvation, StarvedCommand } from '../../../src/testing/claw/starved-command.ts';
import { SCENARIOS } from '../../../src/testing/claw/starved-scenarios.ts';

// The short form; scripts/crash-matrix.ts starves every command at every call.
const hasStrace = spawnSync('strace', ['--version']).status === 0;

for (const scenario of SCENARIOS) {
  test.skipIf(!hasStrace)(
    `${scenario.name} on a disk that stays broken: 0 if and only if the next command finds it done`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'claw-starved-'));
      try {
        const starved = new StarvedCommand(folder, scenario);
        const points = sample(await starved.points());
        let hits = 0;
        for (const [index, point] of points.entries()) {
          const error = index % 2 === 0 ? 'ENOSPC' : 'EIO';
          const tried = await starved.try({ ...point, error });
          expect(tried).toMatchObject({ faults: [] });
          if (tried.isHit) hits += 1;
        }
        expect(hits).toBeGreaterThan(points.length / 2);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    300_000,
  );
}

type Points = readonly Omit<Starvation, 'error'>[];

/** The last renames that publish, the last calls that tidy up, and the first folder: where exit codes were wrong before. */
function sample(points: Points): Points {
  const renames = points.filter(({ call }) => call === 'rename').slice(-2);
  const removals = points.filter(({ call }) => call === 'unlink').slice(-1);
  const syncs = points.filter(({ call }) => call === 'fsync').slice(-1);
  const folders = points.filter(({ call }) => call === 'mkdir').slice(1, 2);
  return [...renames, ...removals, ...syncs, ...folders];
}
