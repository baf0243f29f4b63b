import { expect, test } from 'vitest';
import type { Versions } from '../tree.ts';
import { fastestOf } from './fastest-of.ts';
import { mergeText } from './merge-text.ts';

// What took other mergers seconds to minutes.
const LIMIT_MS = 1000;
const LONG = 20_000;

test.each<[string, (random: () => number) => Versions<readonly string[]>]>([
  [
    'lines drawn from 8 different ones, all three drawn anew',
    (random) => {
      const draw = () => repeat(LONG, () => `line ${Math.floor(random() * 8)}`);
      return { base: draw(), ours: draw(), theirs: draw() };
    },
  ],
  [
    'lines drawn from 8 different ones, with 200 edits on each side',
    (random) => {
      const base = repeat(LONG, () => `line ${Math.floor(random() * 8)}`);
      const edit = (word: string) => {
        const places = new Set(Array.from({ length: 200 }, () => Math.floor(random() * LONG)));
        return base.map((line, index) => (places.has(index) ? `${word} ${index}` : line));
      };
      return { base, ours: edit('ours'), theirs: edit('theirs') };
    },
  ],
  [
    'equal lines, some taken out at the head and some put in at the tail',
    () => {
      const base = repeat(LONG, () => '  {},');
      const more = repeat(50, () => '  {},');
      return { base, ours: base.slice(50), theirs: [...base, ...more] };
    },
  ],
  [
    'equal lines, every fifth of which each side changed',
    (random) => {
      const base = repeat(LONG, () => '  {},');
      const edit = (word: string) =>
        base.map((line, index) => (random() < 0.2 ? `${word} ${index}` : line));
      return { base, ours: edit('ours'), theirs: edit('theirs') };
    },
  ],
  [
    'two lines in turn, a tenth of them deleted on each side',
    (random) => {
      const base = repeat(LONG, (index) => (index % 2 === 0 ? '{' : '}'));
      const thin = () => base.filter(() => random() > 0.1);
      return { base, ours: thin(), theirs: thin() };
    },
  ],
  [
    'no line in common',
    () => {
      const of = (word: string) => repeat(LONG, (index) => `${word} ${index}`);
      return { base: of('base'), ours: of('ours'), theirs: of('theirs') };
    },
  ],
  [
    'two shuffles of unique lines',
    (random) => {
      const base = repeat(LONG, (index) => `line ${index}`);
      return { base, ours: shuffle(base, random), theirs: shuffle(base, random) };
    },
  ],
  [
    'two shuffles of lines that each stand twice',
    (random) => {
      const base = repeat(LONG, (index) => `line ${index >> 1}`);
      return { base, ours: shuffle(base, random), theirs: shuffle(base, random) };
    },
  ],
  [
    'a line at the end of 200,000 on each side',
    () => {
      const base = repeat(200_000, (index) => `line ${index}`);
      return { base, ours: [...base, 'ours'], theirs: [...base, 'theirs'] };
    },
  ],
  [
    '30,000 edits in 100,000 lines',
    () => {
      const base = repeat(100_000, (index) => `line ${index}`);
      const edit = (word: string, rest: number) =>
        base.map((line, index) => (index % 6 === rest ? `${word} ${index}` : line));
      return { base, ours: edit('ours', 0), theirs: edit('theirs', 3) };
    },
  ],
  [
    'one line of a megabyte, changed at either end',
    () => {
      const base = 'x'.repeat(1 << 20);
      return { base: [base], ours: [`a${base.slice(1)}`], theirs: [`${base.slice(1)}z`] };
    },
  ],
])('merges without delay: %s', (_, make) => {
  const { base, ours, theirs } = make(seededRandom(7));
  const versions = { base: textOf(base), ours: textOf(ours), theirs: textOf(theirs) };
  expect(fastestOf(3, LIMIT_MS, () => mergeText(versions))).toBeLessThan(LIMIT_MS);
});

function repeat(length: number, line: (index: number) => string): readonly string[] {
  return Array.from({ length }, (_, index) => line(index));
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

function shuffle(lines: readonly string[], random: () => number): readonly string[] {
  return lines
    .map((line) => ({ line, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ line }) => line);
}

/** Numbers in [0, 1) that are the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
