import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Killer } from './call.ts';
import { deeds, kill } from './deeds.ts';
import { childrenThatDie, standStill } from './killers.ts';
import { Trial } from './trial.ts';
import { world } from './world.ts';

/** The number of files that share the sequences, so that they run beside each other. */
const SHARDS = 4;
const RUNS = Number(process.env['CLAW_RUNS'] ?? 100) / SHARDS;

// A verb may be done sooner than a trial run of it was; of all sequences half are killed all the same.
const SHARES = { alone: 0.42, standingStill: 0.5, bySignal: 0.08 } as const;
const HIT_RATES = { standingStill: 0.9, bySignal: 0.75 } as const;
/** Fewer than these say nothing of a rate. */
const TELLING_RUNS = 30;

/**
 * The laws on one share of the sequences: some are left alone, the others are killed once, every
 * seventh of those by a signal in a process of its own.
 *
 * `npm test` and CI try the same sequences each time, so that a red one speaks of its change: 100 and
 * 1,000 of them. `npm run laws` tries others, and more of them. `CLAW_SEED` repeats a run.
 */
export function testLaws(shard: number): void {
  const isLong = process.env['CLAW_RUNS'] !== undefined;
  const seed = Number(process.env['CLAW_SEED'] ?? (isLong ? Date.now() : 0)) + shard;
  const timeoutMs = 600_000 + RUNS * 5_000;

  test(
    'after any sequence of verbs and edits the tree is the composition and the edits',
    async () => {
      await holds(Math.ceil(RUNS * SHARES.alone), seed, null);
    },
    timeoutMs,
  );

  test(
    'the same where nothing reaches the disk any more from some moment of a verb on',
    async () => {
      const runs = Math.ceil(RUNS * SHARES.standingStill);
      const kills = await holds(runs, seed, standStill);
      if (runs >= TELLING_RUNS) expect(kills / runs).toBeGreaterThan(HIT_RATES.standingStill);
      else expect(kills).toBeGreaterThan(0);
    },
    timeoutMs,
  );

  test(
    'the same where SIGKILL ends a verb at some moment',
    async () => {
      const runs = Math.ceil(RUNS * SHARES.bySignal);
      const children = childrenThatDie();
      try {
        const kills = await holds(runs, seed + SHARDS, children.killer);
        if (runs >= TELLING_RUNS) expect(kills / runs).toBeGreaterThan(HIT_RATES.bySignal);
        else expect(kills).toBeGreaterThan(0);
      } finally {
        children.end();
      }
    },
    timeoutMs,
  );
}

/** @returns how many of the sequences were killed */
async function holds(numRuns: number, seed: number, killer: Killer | null): Promise<number> {
  let kills = 0;
  const when = killer === null ? fc.constant(null) : kill;
  const property = fc.asyncProperty(world, deeds, when, async (one, sequence, moment) => {
    kills += (await new Trial(one, moment, killer ?? standStill).run(sequence)).kills;
  });
  await fc.assert(property, { numRuns, seed });
  return kills;
}
