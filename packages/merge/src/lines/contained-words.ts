import type { Versions } from '../versions.ts';
import { diffLines } from './diff.ts';
import { at } from './interned-lines.ts';
import { mapVersions } from './lines.ts';

/** A number with dots is one word: that 1.1.0 begins as 1.1.1 does makes it no part of that. */
const WORD = /\d[\d.]*\d|[\p{L}\p{N}_]+|\n[ \t]*|[^\S\n]+|[^\p{L}\p{N}_\s]/gu;
/** A value alone, with the signs around it. */
const VALUE =
  /^[^\p{L}\p{N}_]*(?:true|false|null|nil|undefined|True|False|None|\d+(?:\.\d+)?|""|'')[^\p{L}\p{N}_]*$/u;
/** Longer stretches are compared by lines alone, so that no input is slow. */
const MAX_LENGTH = 20_000;

/** Words of the base from `start` to `end`, and what stands there instead. */
type Edit = { readonly start: number; readonly end: number; readonly words: string };

/**
 * Finds the side that made, word by word, every change of the other side, and more. White space counts as a word, so
 * neither loses its layout.
 *
 * @returns null where each side has a change of its own, or both made the same; and where one only put in values, as
 *   nothing tells that the other one's are for the same
 */
export function sideWithAllWords(versions: Versions<readonly string[]>): 'ours' | 'theirs' | null {
  const texts = mapVersions(versions, (lines) => lines.map((line) => `\n${line}`).join(''));
  if (Object.values(texts).some(({ length }) => length > MAX_LENGTH)) return null;
  const { base, ours, theirs } = mapVersions(texts, (text) => text.match(WORD) ?? []);
  const known = new Set(base);
  if (bringsMore(ours, theirs, known) && bringsMore(theirs, ours, known)) return null;
  const [mine, other] = [editsBetween(base, ours), editsBetween(base, theirs)];
  const isOurs = hasAll(mine, other);
  if (isOurs === hasAll(other, mine) || (isOurs ? other : mine).every(isBareValue)) return null;
  return isOurs ? 'ours' : 'theirs';
}

/** Tells whether one side has a word more often than the other one that the base has not at all. */
function bringsMore(
  one: readonly string[],
  other: readonly string[],
  known: ReadonlySet<string>,
): boolean {
  const left = new Map<string, number>();
  for (const word of other) left.set(word, (left.get(word) ?? 0) + 1);
  return one.some((word) => {
    if (known.has(word)) return false;
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  });
}

function editsBetween(base: readonly string[], side: readonly string[]): readonly Edit[] {
  const numbers = new Map<string, number>();
  const intern = (word: string) => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  const [a, b] = [Int32Array.from(base, intern), Int32Array.from(side, intern)];
  const partners = diffLines(a, b, numbers.size);
  const edits: Edit[] = [];
  let [start, from] = [0, 0];
  for (let end = 0; end <= base.length; end++) {
    const partner = end === base.length ? side.length : at(partners, end);
    if (partner < 0) continue;
    if (end > start || partner > from) {
      edits.push({ start, end, words: side.slice(from, partner).join('') });
    }
    [start, from] = [end + 1, partner + 1];
  }
  return edits;
}

function isBareValue({ start, end, words }: Edit): boolean {
  return start === end && VALUE.test(words);
}

function hasAll(edits: readonly Edit[], others: readonly Edit[]): boolean {
  const known = new Map(edits.map((edit) => [`${edit.start} ${edit.end}`, edit.words]));
  return others.every(({ start, end, words }) => known.get(`${start} ${end}`) === words);
}
