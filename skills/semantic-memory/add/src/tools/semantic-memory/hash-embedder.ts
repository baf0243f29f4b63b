/** Length of a vector. */
export const HASH_DIMENSIONS = 384;

/** Name of the embedder among those that vectors are made by; a new one makes all vectors again. */
export const HASH_EMBEDDER = 'local/hash-1';

/** Each feature counts in so many places, so that two features which meet in one are still told apart. */
const PLACES = 3;
const WORD = /[\p{L}\p{N}]+/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * Makes a vector of a text without a model: the hashes of its words and of their parts, normalised to length 1.
 * Texts are near to each other where they share words or parts of words, not where they mean the same.
 */
export function hashEmbedding(text: string): Float32Array {
  const vector = new Float32Array(HASH_DIMENSIONS);
  for (const [word] of folded(text).matchAll(WORD)) addWord(vector, word);
  return normalised(vector);
}

/** More than a note or a question has. */
const MOST_FOLDED = 20_000;

/**
 * Returns the beginning of a text in lower case and without accents, and 20,000 signs of it at most: some signs
 * stand for a phrase, such as U+FDFA, which becomes eighteen, and a question may be a message of a megabyte.
 */
export function folded(text: string): string {
  const plain = text.slice(0, MOST_FOLDED).toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.slice(0, MOST_FOLDED);
}

function addWord(vector: Float32Array, word: string): void {
  const isUnspaced = UNSPACED.test(word);
  // Most words that only join others are short.
  const weight = !isUnspaced && word.length <= 3 ? 0.3 : 1;
  if (!isUnspaced) addFeature(vector, word, weight);
  const framed = isUnspaced ? word : `<${word}>`;
  const size = isUnspaced ? 2 : 4;
  const count = Math.max(1, framed.length - size + 1);
  const share = isUnspaced ? 1 : (weight * 1.5) / Math.sqrt(count);
  for (let at = 0; at < count; at += 1)
    addFeature(vector, `#${framed.slice(at, at + size)}`, share);
}

function addFeature(vector: Float32Array, feature: string, weight: number): void {
  let hash = hashOf(feature);
  for (let place = 0; place < PLACES; place += 1) {
    const at = (hash >>> 1) % HASH_DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight);
    hash = mixed(hash + 0x9e3779b9);
  }
}

/** FNV-1a, mixed at the end so that all bits depend on all characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mixed(hash);
}

/** The finalizer of MurmurHash3. */
function mixed(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the vector with length 1; one of zeros stays. */
function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0));
  return length === 0 ? vector : vector.map((each) => each / length);
}
