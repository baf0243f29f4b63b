/** Number of bits that a vector becomes for the first pass. */
export const CODE_BITS = 512;

/**
 * Turns a vector into bits whose Hamming distance grows with the angle between vectors: the signs of the vector
 * after a random rotation. Without the rotation a vector with many zeros, or one whose numbers lean to one side,
 * would lose most of its direction.
 *
 * The rotation is two rounds of random signs and a Walsh-Hadamard transform, and is the same at every call.
 *
 * Source: Charikar: Similarity estimation techniques from rounding algorithms (2002)
 */
export function codeOf(vector: Float32Array): Buffer {
  const size = Math.max(CODE_BITS, 2 ** Math.ceil(Math.log2(vector.length)));
  const rotated = new Float32Array(size);
  rotated.set(vector);
  for (const seed of [0x2545f491, 0x9e3779b9]) {
    flipSigns(rotated, seed);
    transform(rotated);
  }
  const bits = Buffer.alloc(CODE_BITS / 8);
  for (let at = 0; at < CODE_BITS; at += 1) {
    if ((rotated[at] ?? 0) > 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return bits;
}

/** Returns a vector in one byte a number; its length is lost, and its direction is not. */
export function toBytes(vector: Float32Array): Buffer {
  const largest = vector.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const scale = largest === 0 ? 0 : 127 / largest;
  return Buffer.from(Int8Array.from(vector, (each) => Math.round(each * scale)).buffer);
}

/** Returns the cosine of the angle between a vector and one of `toBytes`; 0 where lengths differ. */
export function cosine(vector: Float32Array, bytes: Uint8Array): number {
  const other = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  if (other.length !== vector.length) return 0;
  let dot = 0;
  let ownSquare = 0;
  let otherSquare = 0;
  for (let at = 0; at < other.length; at += 1) {
    const one = vector[at] ?? 0;
    const two = other[at] ?? 0;
    dot += one * two;
    ownSquare += one * one;
    otherSquare += two * two;
  }
  const lengths = Math.sqrt(ownSquare * otherSquare);
  return lengths === 0 ? 0 : dot / lengths;
}

/** Flips the signs of about half of the numbers, by a generator of Marsaglia's (xorshift). */
function flipSigns(vector: Float32Array, seed: number): void {
  let state = seed;
  for (let at = 0; at < vector.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    if ((state & 1) === 1) vector[at] = -(vector[at] ?? 0);
  }
}

function transform(vector: Float32Array): void {
  for (let half = 1; half < vector.length; half *= 2) {
    for (let start = 0; start < vector.length; start += half * 2) {
      for (let at = start; at < start + half; at += 1) {
        const one = vector[at] ?? 0;
        const two = vector[at + half] ?? 0;
        vector[at] = one + two;
        vector[at + half] = one - two;
      }
    }
  }
}
