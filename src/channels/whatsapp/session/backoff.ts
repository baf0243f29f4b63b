const FIRST_MS = 1_000;
const LONGEST_MS = 120_000;

/**
 * How long to wait after so many failures in a row: doubling, at most two minutes, and between half and
 * all of that, so that many installations do not come back at the same moment.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function backoffMs(failures: number, random: number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (ceiling / 2) * random;
}
