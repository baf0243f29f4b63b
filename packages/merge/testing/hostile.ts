import type { Versions } from '../src/versions.ts';
import { seededRandom } from './random.ts';

/** Inputs that are slow to merge where a merger compares too much or parses too often. */
export const HOSTILE: Readonly<Record<string, (lines: number) => Versions<string>>> = {
  'all lines different': (count) => {
    const of = (word: string) => textOf(count, (index) => `${word}${index}();`);
    return { base: of('b'), ours: of('o'), theirs: of('t') };
  },
  'two shuffles': (count) => {
    const random = seededRandom(3);
    const lines = Array.from({ length: count }, (_, index) => `l${index}();\n`);
    const shuffle = () =>
      lines
        .map((line) => ({ line, key: random() }))
        .sort((one, other) => one.key - other.key)
        .map(({ line }) => line)
        .join('');
    return { base: lines.join(''), ours: shuffle(), theirs: shuffle() };
  },
  'a JSON map with many insertions on each side': (count) => {
    const map = (word: string) => {
      const keys: string[] = [];
      for (let index = 0; index < count; index++) {
        keys.push(`"k${index}":1`);
        if (word !== '' && index % 4 === 0) keys.push(`"${word}${index}":1`);
      }
      return `{\n${keys.join(',\n')}\n}\n`;
    };
    return { base: map(''), ours: map('o'), theirs: map('t') };
  },
  'every line laid out anew on one side': (count) => {
    const write = (indent: string, word: string) =>
      textOf(count / 3, (index) => {
        const name = index % 50 === 0 ? word : 'v';
        return `f${index}(\n${indent}${name},\n);`;
      });
    return { base: write('  ', 'v'), ours: write('    ', 'v'), theirs: write('  ', 'w') };
  },
  'statements laid out anew on one side': (count) => {
    const write = (indent: string, word: string) =>
      textOf(count / 4, (index) => {
        const name = index % 9 === 0 ? word : 'v';
        return `f${index}(() => {\n${indent}a();\n${indent}${name}();\n});`;
      });
    return { base: write('  ', 'v'), ours: write('    ', 'v'), theirs: write('  ', 'w') };
  },
  'many equal lines': (count) => {
    const of = (more: number) => '  {},\n'.repeat(count + more);
    return { base: of(0), ours: of(-50), theirs: of(50) };
  },
  'a line with a long run of space': (count) => {
    const of = (line: string) => `a\n${line}z\n`;
    // Shorter texts are cheaper than their length: they take another way.
    const space = ' '.repeat(count * 40);
    return {
      base: of(''),
      ours: of(`from a import (${space}!)\n`),
      theirs: of(`from b import c${space}d\n`),
    };
  },
  'one key more at the end of each of many maps': (count) => {
    const write = (word: string) =>
      textOf(count / 20, (index) => {
        const keys = Array.from({ length: 17 }, (_, key) => `  k${key}: ${key},\n`).join('');
        return `const v${index} = {\n${keys}${word === '' ? '' : `  ${word}: 1,\n`}};`;
      });
    return { base: write(''), ours: write('ours'), theirs: write('theirs') };
  },
  'every second line in conflict': (count) => {
    const of = (word: string) =>
      textOf(count / 2, (index) => `same${index}();\n${word}${index}();`);
    return { base: of('b'), ours: of('o'), theirs: of('t') };
  },
  'a sorted list that one side takes from beside what the other puts in': (count) => {
    const write = (isOurs: boolean, isTheirs: boolean) =>
      textOf(count, (index) => {
        const name = `name_${String(index).padStart(6, '0')}`;
        if (index % 6 !== 2) return name;
        return [...(isOurs ? [] : [name]), ...(isTheirs ? [`${name}_too`] : [])].join('\n');
      }).replaceAll('\n\n', '\n');
    return { base: write(false, false), ours: write(true, false), theirs: write(false, true) };
  },
  'edits of both sides in turn': (count) => {
    const write = (side: number, word: string) =>
      textOf(count / 3, (index) => {
        const name = index % 2 === side ? word : 'b';
        return `const ${name}${index} = 1;\ng${index}();\nh${index}();`;
      });
    return { base: write(2, 'b'), ours: write(0, 'o'), theirs: write(1, 't') };
  },
  'brackets nested deep, one to a line': (count) => {
    const of = (word: string, end: string) =>
      `${'[\n'.repeat(count)}${word}\n${']\n'.repeat(count)}${end}`;
    return { base: of('1', ''), ours: of('2', ''), theirs: of('1', ';\n') };
  },
  'one long line': (count) => {
    const of = (word: string) => {
      const calls = Array.from(
        { length: count * 2 },
        (_, at) => `f(${at === count ? word : at},"x",{});`,
      );
      return `${calls.join('')}\n`;
    };
    return { base: of('b'), ours: of('o'), theirs: of('t') };
  },
  'line ends of both kinds, otherwise mixed on each side': (count) => {
    const write = (every: number, word: string) =>
      Array.from({ length: count }, (_, index) => {
        const value = index % 97 === 0 ? word : 1;
        return `const a${index} = ${value};${index % every === 0 ? '\r\n' : '\n'}`;
      }).join('');
    return { base: write(2, '1'), ours: write(3, '2'), theirs: write(1, '1') };
  },
};

function textOf(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');
}
