import { expect, test } from 'vitest';
import { fuzzMerge } from '../testing/fuzz.ts';
import { seededRandom } from '../testing/random.ts';

// `npm run fuzz:merge` is the long form, a million of them: half an hour beside other work.
const RUNS = Number(process.env['CLAW_RUNS'] ?? 600);
const TIMEOUT_MS = 600_000 + RUNS * 10;
const SEED = Number(process.env['CLAW_SEED'] ?? 11);

test(
  'random edits of random sources: no line is lost that both sides keep, and none comes that neither has',
  () => {
    const random = seededRandom(SEED);
    for (let run = 0; run < RUNS; run++) {
      const { fault, ...merge } = fuzzMerge(random);
      if (fault !== null) expect({ run, fault, ...merge }).toBe(null);
    }
  },
  TIMEOUT_MS,
);
