import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The largest ratio that passes as linear for four times the input; a quadratic cost gives 16. */
const LIMIT = 9;
const LARGE = 4;
const ROUNDS = 12;
const WARM_UP_US = 100_000;

/**
 * Returns the ratio of cost for four times the input, of the fastest run of each size: 4 where the cost
 * grows with the input, 16 where with its square.
 *
 * Counts the processor's time, not the clock's. Other work on the machine only ever adds to a run, so the
 * sizes take turns until the ratio is below the limit, or rounds enough show that it is not. Where an input leaves
 * the processor's caches between two sizes, it costs more there alone: then the next fourfold counts.
 *
 * @param make prepares the input of a size, and returns the run that is measured
 */
export function costOfFourfold(size: number, make: (size: number) => () => void): number {
  const first = costOfStep(size, make);
  return first < LIMIT ? first : Math.min(first, costOfStep(size * LARGE, make));
}

function costOfStep(size: number, make: (size: number) => () => void): number {
  const [small, large] = [make(size), make(size * LARGE)];
  const fastest = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  // The compiler's work on the first runs would make a small input look expensive.
  for (let spent = 0, runs = 0; spent < WARM_UP_US && runs < 10; runs += 1) spent += cost(small);
  for (let round = 0; round < ROUNDS; round += 1) {
    fastest.small = Math.min(fastest.small, cost(small), cost(small));
    fastest.large = Math.min(fastest.large, cost(large));
    if (fastest.large < LIMIT * fastest.small) break;
  }
  return fastest.large / fastest.small;
}

/** The limit to hold the cost of four times the input against. */
export const LINEAR_AT_MOST = LIMIT;

/** Frees memory. A collection in the middle of a run would count what all other tests of this process keep. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--no-flush-bytecode');
  runInNewContext('gc')();
}

function cost(run: () => void): number {
  collect();
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}
