import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../src/testing/growth.ts';
import { mergeText } from '../src/merge-text.ts';
import type { Versions } from '../src/versions.ts';

// Four times as many lines are 20,000 and more, for which other mergers took seconds to minutes.
const LINES = 5_000;

test.each<[string, (lines: number, random: () => number) => Versions<readonly string[]>]>([
  [
    'lines drawn from 8 different ones, all three drawn anew',
    (lines, random) => {
      const draw = () => repeat(lines, () => `line ${Math.floor(random() * 8)}`);
      return { base: draw(), ours: draw(), theirs: draw() };
    },
  ],
  [
    'lines drawn from 8 different ones, with an edit in every hundred on each side',
    (lines, random) => {
      const base = repeat(lines, () => `line ${Math.floor(random() * 8)}`);
      const edit = (word: string) => {
        const places = new Set(
          Array.from({ length: lines / 100 }, () => Math.floor(random() * lines)),
        );
        return base.map((line, index) => (places.has(index) ? `${word} ${index}` : line));
      };
      return { base, ours: edit('ours'), theirs: edit('theirs') };
    },
  ],
  [
    'equal lines, some taken out at the head and some put in at the tail',
    (lines) => {
      const base = repeat(lines, () => '  {},');
      const more = repeat(lines / 400, () => '  {},');
      return { base, ours: base.slice(lines / 400), theirs: [...base, ...more] };
    },
  ],
  [
    'equal lines, every fifth of which each side changed',
    (lines, random) => {
      const base = repeat(lines, () => '  {},');
      const edit = (word: string) =>
        base.map((line, index) => (random() < 0.2 ? `${word} ${index}` : line));
      return { base, ours: edit('ours'), theirs: edit('theirs') };
    },
  ],
  [
    'two lines in turn, a tenth of them deleted on each side',
    (lines, random) => {
      const base = repeat(lines, (index) => (index % 2 === 0 ? '{' : '}'));
      const thin = () => base.filter(() => random() > 0.1);
      return { base, ours: thin(), theirs: thin() };
    },
  ],
  [
    'no line in common',
    (lines) => {
      const of = (word: string) => repeat(lines, (index) => `${word} ${index}`);
      return { base: of('base'), ours: of('ours'), theirs: of('theirs') };
    },
  ],
  [
    'two shuffles of unique lines',
    (lines, random) => {
      const base = repeat(lines, (index) => `line ${index}`);
      return { base, ours: shuffle(base, random), theirs: shuffle(base, random) };
    },
  ],
  [
    'two shuffles of lines that each stand twice',
    (lines, random) => {
      const base = repeat(lines, (index) => `line ${index >> 1}`);
      return { base, ours: shuffle(base, random), theirs: shuffle(base, random) };
    },
  ],
  [
    'a line at the end of ten times as many on each side',
    (lines) => {
      const base = repeat(lines * 10, (index) => `line ${index}`);
      return { base, ours: [...base, 'ours'], theirs: [...base, 'theirs'] };
    },
  ],
  [
    'an edit in every third of five times as many',
    (lines) => {
      const base = repeat(lines * 5, (index) => `line ${index}`);
      const edit = (word: string, rest: number) =>
        base.map((line, index) => (index % 6 === rest ? `${word} ${index}` : line));
      return { base, ours: edit('ours', 0), theirs: edit('theirs', 3) };
    },
  ],
  [
    'an edit at the head by one side, and one at the foot by the other, in one long paragraph',
    (lines) => {
      const base = repeat(lines * 4, (index) => `line ${index}`);
      const edit = (at: number) => base.map((line, index) => (index === at ? 'edited' : line));
      return { base, ours: edit(10), theirs: edit(lines * 4 - 10) };
    },
  ],
  [
    'one line of a megabyte, changed at either end',
    (lines) => {
      const base = 'x'.repeat(lines * 52);
      return { base: [base], ours: [`a${base.slice(1)}`], theirs: [`${base.slice(1)}z`] };
    },
  ],
])('four times the lines cost about four times as much: %s', (_, make) => {
  const cost = costOfFourfold(LINES, (lines) => {
    const { base, ours, theirs } = make(lines, seededRandom(7));
    const versions = { base: textOf(base), ours: textOf(ours), theirs: textOf(theirs) };
    return () => mergeText(versions);
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
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

/** Returns numbers in [0, 1) that are the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
