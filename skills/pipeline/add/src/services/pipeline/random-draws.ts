import { createHash } from 'node:crypto';

/** Returns draws from 0 to 1 that are always the same for one text. Source: mulberry32, Tommy Ettinger (2017). */
export function drawsOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws from a Beta distribution. A parameter that is below 1, or no number, is taken for 1: nothing is known then. */
export function drawBeta(alpha: number, beta: number, random: () => number): number {
  const one = drawGamma(shapeOf(alpha), random);
  return one / (one + drawGamma(shapeOf(beta), random));
}

function shapeOf(parameter: number): number {
  return Number.isFinite(parameter) ? Math.max(1, parameter) : 1;
}

/** Source: Marsaglia, Tsang: A Simple Method for Generating Gamma Variables (2000), for shapes of 1 or more. */
function drawGamma(shape: number, random: () => number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Source: Box, Muller: A Note on the Generation of Random Normal Deviates (1958). */
function drawNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
