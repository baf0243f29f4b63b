import { expect, test } from 'vitest';
import { mergeFiles } from '../../../merge/src/merge-files.ts';
import { answeredFile } from '../compose/answer.ts';
import type { Conflict } from '../conflict.ts';
import { answerOfPicks, type HunkChoice } from './choice.ts';

const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });

function resolved(
  texts: readonly [base: string, ours: string, theirs: string],
  ...picks: HunkChoice[]
) {
  const [base, ours, theirs] = texts.map(file);
  const sides = { base: base ?? null, ours: ours ?? null, theirs: theirs ?? null };
  const merged = mergeFiles(sides, { path: 'a.txt' });
  const hunks = merged.kind === 'conflict' ? merged.hunks : [];
  const conflict: Conflict = {
    path: 'a.txt',
    kind: 'content',
    layers: ['a', 'b'],
    reason: '',
    hunks,
    sides,
    values: null,
  };
  return answeredFile(conflict, answerOfPicks(conflict, picks))?.bytes.toString();
}

const MIDDLE = ['1\n2\n3\n', '1\na\n3\n', '1\nb\n3\n'] as const;

test.each<[HunkChoice, string]>([
  ['ours', '1\na\n3\n'],
  ['theirs', '1\nb\n3\n'],
  ['ours-theirs', '1\na\nb\n3\n'],
  ['theirs-ours', '1\nb\na\n3\n'],
  [{ text: 'ü 你好\n' }, '1\nü 你好\n3\n'],
  [{ text: 'no line end' }, '1\nno line end\n3\n'],
  [{ text: '' }, '1\n3\n'],
])('%j stands in place of the hunk', (pick, expected) => {
  expect(resolved(MIDDLE, pick)).toBe(expected);
});

test('words get the line ends of the file, whatever they came with', () => {
  const crlf = ['1\r\n2\r\n3\r\n', '1\r\na\r\n3\r\n', '1\r\nb\r\n3\r\n'] as const;
  expect(resolved(crlf, { text: 'x\ny\r\nz' })).toBe('1\r\nx\r\ny\r\nz\r\n3\r\n');
});

test('at the end of a file a missing newline is kept, and is none between two sides', () => {
  const end = ['1\n2', '1\na', '1\nb'] as const;
  expect(resolved(end, 'ours-theirs')).toBe('1\na\nb');
  expect(resolved(end, { text: 'x' })).toBe('1\nx');
  expect(resolved(end, { text: 'x\n' })).toBe('1\nx\n');
});

test('every hunk gets exactly one pick', () => {
  expect(() => resolved(MIDDLE)).toThrow(/1 open hunks, but 0/);
  expect(() => resolved(MIDDLE, 'ours', 'ours')).toThrow(/1 open hunks, but 2/);
});
