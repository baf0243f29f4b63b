import { expect, test } from 'vitest';
import type { Versions } from '../tree.ts';
import { fastestOf } from './fastest-of.ts';
import { mergeText } from './merge-text.ts';

// A quarter of a megabyte with something to settle on every page takes half a second on an idle machine.
const LIMIT_MS = 2500;

test.each<[string, string, () => Versions<string>]>([
  [
    'a key more in each of 190 objects on both sides',
    'a.ts',
    () => {
      const keys = linesOf(40, (index) => `  key${index}: 'some value',`);
      const write = (word: string) =>
        linesOf(190, (index) => `const v${index} = {\n${keys}  ${word}${index}: 1,\n};`);
      return { base: write('same'), ours: write('mine'), theirs: write('other') };
    },
  ],
  [
    'an import more in 200 places of one list on both sides',
    'a.ts',
    () => {
      const write = (word: string) =>
        linesOf(200, (place) => {
          const imports = linesOf(20, (index) => `import { a${place}x${index} } from './a.ts';`);
          return imports + (word === '' ? '' : `import { ${word}${place} } from './${word}.ts';`);
        });
      return { base: write(''), ours: write('mine'), theirs: write('other') };
    },
  ],
  [
    'every line laid out anew on one side, every ninth changed on the other',
    'a.ts',
    () => {
      const write = (indent: string, word: string) =>
        linesOf(3000, (index) => {
          const value = index % 9 === 0 ? `${word}${index}` : `${index}`;
          return `function f${index}(a) {\n${indent}return a + '${value}';\n}`;
        });
      return { base: write('  ', ''), ours: write('    ', ''), theirs: write('  ', 'x') };
    },
  ],
  [
    'a key more at the end of 9,000 on both sides',
    'a.json',
    () => {
      const keys = Array.from({ length: 9000 }, (_, index) => `  "key number ${index}": ${index}`);
      const write = (...more: string[]) => `{\n${[...keys, ...more].join(',\n')}\n}\n`;
      return { base: write(), ours: write('  "mine": 1'), theirs: write('  "other": 2') };
    },
  ],
  [
    'a name declared at both ends of 9,000',
    'a.ts',
    () => {
      const base = linesOf(9000, (index) => `const name${index} = call(${index});`);
      return { base, ours: `const a = 1;\n${base}`, theirs: `${base}const a = 2;\n` };
    },
  ],
  [
    'brackets nested deeper than a parser can follow',
    'a.ts',
    () => {
      const write = (inside: string) => `${'['.repeat(9000)}${inside}${']'.repeat(9000)}\n`;
      return { base: write(''), ours: write(' '), theirs: write('1') };
    },
  ],
])('merges by syntax without delay: %s', (_, path, make) => {
  const versions = make();
  expect(fastestOf(3, LIMIT_MS, () => mergeText(versions, { path }))).toBeLessThan(LIMIT_MS);
});

function linesOf(length: number, line: (index: number) => string): string {
  return Array.from({ length }, (_, index) => `${line(index)}\n`).join('');
}
