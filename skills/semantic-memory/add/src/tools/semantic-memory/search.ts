import { folded } from './hash-embedder.ts';
import type { Note } from './note.ts';
import type { Notes } from './notes.ts';
import { codeOf, cosine } from './quantise.ts';
import { type CountedWord, spaced, wordsOf } from './query-words.ts';

/** The folder whose notes all groups see. */
export const GLOBAL = 'global';

/** A note that was found. */
export type Found = {
  readonly note: Note;
  /** Likeness of meaning, from 0 to 1; null where the note was found by words alone. */
  readonly likeness: number | null;
  /** The share of the telling words of the question that the note has, from 0 to 1. */
  readonly share: number;
};

export type SearchWish = {
  readonly folder: string;
  readonly text: string;
  /** The vector of the text; null searches by words alone. */
  readonly vector: Float32Array | null;
  /** The least likeness of a note that is found by its vector. */
  readonly leastLikeness: number;
  /** The least share of words of a note that is found by them. */
  readonly leastShare: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** The part of the score that likeness makes; the rest is the share of words. */
const OF_LIKENESS = 0.8;
/** More words than a question has. */
const MOST_WORDS = 64;
/** A word that no note has counts half: it may be a rare one, or one that only joins others. */
const OF_UNKNOWN = 0.5;

/**
 * Finds notes of a folder and those that all see, best first, by words and by meaning.
 *
 * Both are put on a scale from 0 to 1 and added. Ranks alone, as reciprocal rank fusion adds them, would give a
 * note with three common words of the question the same weight as one that means the same.
 *
 * Source: Bruch, Gai, Ingber: An analysis of fusion functions for hybrid retrieval (2023)
 */
export function searchNotes(notes: Notes, wish: SearchWish): readonly Found[] {
  const { vector, leastLikeness, leastShare } = wish;
  const words = wordsOf(wish.text).slice(0, MOST_WORDS);
  const indexes = [...new Set([wish.folder, GLOBAL])].flatMap(
    (folder) => notes.index(folder) ?? [],
  );
  const code = vector === null ? null : codeOf(vector);
  const byWords = indexes.flatMap((index) => index.byWords(words));
  const byVector = code === null ? [] : indexes.flatMap((index) => index.byVector(code));
  const shareOf = shareBy(
    words.map((word) => ({ word, notes: sum(indexes.map((index) => index.notesWith(word))) })),
    notes.size(),
  );
  const candidates = notes.byIds([...new Set([...byWords, ...byVector])]);
  const found = candidates.map(({ note, vector: bytes }): Found => {
    const likeness = bytes === null || vector === null ? null : cosine(vector, bytes);
    return { note, likeness, share: shareOf(note.text) };
  });
  const isNear = ({ likeness }: Found) => likeness !== null && likeness >= leastLikeness;
  const hasWords = ({ share }: Found) => share > 0 && share >= leastShare;
  return withoutTwins(inOrder(found, wish.now).filter((one) => isNear(one) || hasWords(one)));
}

const DAY_MS = 86_400_000;
/** What was said loses half of its extra weight in so many days; the rest stays. */
const HALF_LIFE_DAYS = 60;
const OF_AGE = 0.4;
/** Answers of the assistant repeat words of the question; what people wrote or said is the source. */
const OF_ANSWER = 0.8;
const OF_LONG_ANSWER = 0.4;
const OF_ERROR = 0.2;
/** An answer of more characters is a long one. */
const LONG_ANSWER = 300;
/** The beginning of an answer that tells of something that did not work. */
const TELLS_OF_ERROR =
  /\b(?:errors?|exception|traceback|failed|fails|timed out|timeout|refused|could ?n[o'’]t|can ?n[o'’]t be|was not able|unable to|not reachable|E[A-Z]{5,12}|HTTP [45]\d\d)\b/;

/**
 * Returns the weight of a note by its source and its age, from 0 to 1. A file counts in full as long as it is there:
 * its owner keeps it.
 */
function sourceWeight({ kind, saidAt, text }: Note, now: number): number {
  if (kind === 'file') return 1;
  const days = saidAt === null ? 0 : Math.max(0, now - saidAt) / DAY_MS;
  const ofAge = 1 - OF_AGE + OF_AGE * 2 ** (-days / HALF_LIFE_DAYS);
  if (kind === 'message') return ofAge;
  if (TELLS_OF_ERROR.test(text.slice(0, 200))) return ofAge * OF_ERROR;
  return ofAge * (text.length > LONG_ANSWER ? OF_LONG_ANSWER : OF_ANSWER);
}

/** Sorts by the score. Some models give any two texts a cosine of 0.7: the scale begins at the least one here. */
function inOrder(found: readonly Found[], now: number): readonly Found[] {
  const least = Math.min(1, ...found.flatMap(({ likeness }) => likeness ?? []));
  const scoreOf = ({ note, likeness, share }: Found) =>
    sourceWeight(note, now) *
    ((likeness === null || least === 1 ? 0 : (likeness - least) / (1 - least)) * OF_LIKENESS +
      share * (1 - OF_LIKENESS));
  const scores = new Map(found.map((one) => [one, scoreOf(one)]));
  return found.toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0));
}

/** Returns the share of a question's words in a text, where a rare word counts more than a common one. */
function shareBy(words: readonly CountedWord[], total: number): (text: string) => number {
  const weights = words.map(({ word, notes }) => ({ word, weight: weightOf(notes, total) }));
  const all = sum(weights.map(({ weight }) => weight));
  return (text) => {
    const own = new Set(folded(spaced(text)).match(/[\p{L}\p{N}]+/gu));
    const shared = weights.filter(({ word }) => own.has(word)).map(({ weight }) => weight);
    return all === 0 ? 0 : sum(shared) / all;
  };
}

/** Returns how much a word tells, as BM25 has it. */
function weightOf(notes: number, total: number): number {
  const weight = Math.log(1 + (Math.max(0, total - notes) + 0.5) / (notes + 0.5));
  return notes === 0 ? weight * OF_UNKNOWN : weight;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Leaves out what says the same as a better one. */
function withoutTwins(found: readonly Found[]): readonly Found[] {
  const seen = new Set<string>();
  return found.filter(({ note: { text } }) => {
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
}
