import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Hunk } from '../../../../merge/src/lines/lines.ts';
import { splitLines } from '../../../../merge/src/lines/lines.ts';
import { extractAnswers } from '../extract-answer.ts';

const lines = (text: string) => splitLines(text.replaceAll(' ', '\n'));
const resolved = (text: string): Hunk => ({ kind: 'resolved', lines: lines(text) });
const conflict = (ours: string, theirs: string, base = ''): Hunk => ({
  kind: 'conflict',
  base: lines(base),
  ours: lines(ours),
  theirs: lines(theirs),
});

function extract(hunks: readonly Hunk[], text: string): readonly string[] | null {
  const answers = extractAnswers(hunks, text.replaceAll(' ', '\n'));
  return answers?.map(({ resolved }) => resolved.join('').replaceAll('\n', ' ')) ?? null;
}

const ONE = [resolved('a b '), conflict('x ', 'y '), resolved('c d ')];
const TWO = [...ONE, conflict('p ', 'q '), resolved('e ')];

test.each([
  ['one side', 'a b x c d ', ['x ']],
  ['new words', 'a b new words c d ', ['new words ']],
  ['nothing', 'a b c d ', ['']],
  ['lines that stand around it too', 'a b b c c d ', ['b c ']],
])(
  'a conflict is resolved by what stands between the resolved lines: %s',
  (_name, text, answers) => {
    expect(extract(ONE, text)).toEqual(answers);
  },
);

test('conflicts at both ends of a text, and one that is the whole text', () => {
  const ends = [conflict('x ', 'y '), resolved('m '), conflict('p ', 'q ')];
  expect(extract(ends, 'x m q ')).toEqual(['x ', 'q ']);
  expect(extract(ends, 'm m m ')).toEqual(['', 'm m ']);
  expect(extract([conflict('x ', 'y ')], 'anything at all')).toEqual(['anything at all']);
});

test('a resolved line that recurs in the answer does not end it where a side ends later', () => {
  const braces = [resolved('{ '), conflict('f } ', 'g } '), resolved('} '), conflict('p ', 'q ')];
  expect(extract([...braces, resolved('z ')], '{ f } } q z ')).toEqual(['f } ', 'q ']);
  expect(extract([...braces, resolved('z ')], '{ f } g } } p z ')).toEqual(['f } g } ', 'p ']);
});

test('resolved lines that were changed as well are not taken for the answer', () => {
  expect(extract(ONE, 'a b x c D ')).toEqual(['x ']);
  expect(extract(ONE, 'A b x c d more ')).toEqual(['x ']);
  expect(extract(ONE, 'a B x c d ')).toEqual(['x ']);
  expect(extract(TWO, 'a b x c d extra q e ')).toEqual(['x ', 'extra q ']);
});

test('conflicts that run into each other are nobody’s to tell apart', () => {
  expect(extract(TWO, 'a b all of it is new e ')).toBe(null);
});

test('whatever resolves each conflict is found again, and joins to the same text', () => {
  const word = fc.constantFrom('a\n', 'b\n', '}\n', '{\n', '\n');
  const some = fc.array(word, { maxLength: 4 });
  const block = fc.record({ before: fc.array(word, { minLength: 1, maxLength: 3 }), side: some });
  fc.assert(
    fc.property(fc.array(fc.tuple(block, some), { minLength: 1, maxLength: 4 }), (blocks) => {
      const hunks = blocks.flatMap(([{ before, side }]): Hunk[] => [
        { kind: 'resolved', lines: before },
        { kind: 'conflict', base: [], ours: side, theirs: ['t\n'] },
      ]);
      const text = blocks.flatMap(([{ before }, resolved]) => [...before, ...resolved]).join('');
      const answers = extractAnswers(hunks, text);
      const joined = hunks.flatMap((hunk) =>
        hunk.kind === 'resolved'
          ? hunk.lines
          : (answers?.[hunks.indexOf(hunk) >> 1]?.resolved ?? []),
      );
      expect(joined.join('')).toBe(text);
    }),
  );
});
