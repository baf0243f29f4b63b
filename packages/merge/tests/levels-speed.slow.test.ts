import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../src/testing/growth.ts';
import { mergeText } from '../src/merge-text.ts';
import type { Versions } from '../src/versions.ts';

// Four times as much is a quarter of a megabyte with something to resolve on every page.
const SIZE = 50;

test.each<[string, string, (size: number) => Versions<string>]>([
  [
    'a key more in each of many objects on both sides',
    'a.ts',
    (size) => {
      const keys = linesOf(40, (index) => `  key${index}: 'some value',`);
      const write = (word: string) =>
        linesOf(size, (index) => `const v${index} = {\n${keys}  ${word}${index}: 1,\n};`);
      return { base: write('same'), ours: write('mine'), theirs: write('other') };
    },
  ],
  [
    'an import more in many places of one list on both sides',
    'a.ts',
    (size) => {
      const write = (word: string) =>
        linesOf(size, (place) => {
          const imports = linesOf(20, (index) => `import { a${place}x${index} } from './a.ts';`);
          return imports + (word === '' ? '' : `import { ${word}${place} } from './${word}.ts';`);
        });
      return { base: write(''), ours: write('mine'), theirs: write('other') };
    },
  ],
  [
    'every line laid out anew on one side, every ninth changed on the other',
    'a.ts',
    (size) => {
      const write = (indent: string, word: string) =>
        linesOf(size * 15, (index) => {
          const value = index % 9 === 0 ? `${word}${index}` : `${index}`;
          return `function f${index}(a) {\n${indent}return a + '${value}';\n}`;
        });
      return { base: write('  ', ''), ours: write('    ', ''), theirs: write('  ', 'x') };
    },
  ],
  [
    'a key more at the end of thousands on both sides',
    'a.json',
    (size) => {
      const keys = Array.from(
        { length: size * 45 },
        (_, index) => `  "key number ${index}": ${index}`,
      );
      const write = (...more: string[]) => `{\n${[...keys, ...more].join(',\n')}\n}\n`;
      return { base: write(), ours: write('  "mine": 1'), theirs: write('  "other": 2') };
    },
  ],
  [
    'a name declared at both ends of thousands',
    'a.ts',
    (size) => {
      const base = linesOf(size * 45, (index) => `const name${index} = call(${index});`);
      return { base, ours: `const a = 1;\n${base}`, theirs: `${base}const a = 2;\n` };
    },
  ],
  [
    'brackets nested deeper than a parser can follow',
    'a.ts',
    (size) => {
      const write = (inside: string) =>
        `${'['.repeat(size * 180)}${inside}${']'.repeat(size * 180)}\n`;
      return { base: write(''), ours: write(' '), theirs: write('1') };
    },
  ],
])('four times the text costs about four times as much: %s', (_, path, make) => {
  const cost = costOfFourfold(SIZE, (size) => {
    const versions = make(size);
    return () => mergeText(versions, { path });
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
});

function linesOf(length: number, line: (index: number) => string): string {
  return Array.from({ length }, (_, index) => `${line(index)}\n`).join('');
}
