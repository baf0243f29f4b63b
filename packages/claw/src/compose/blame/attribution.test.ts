import { expect, test } from 'vitest';
import type { Hunk } from '../../../../merge/src/lines/lines.ts';
import type { Touch } from './attribution.ts';
import { authorOf } from './attribution.ts';

const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });

/** Makes the work of one layer after the other, beginning with the core's text. */
function touches(core: string, ...steps: (readonly [layer: string, text: string])[]): Touch[] {
  let before = core;
  return steps.map(([layer, after]) => {
    const touch = { layer, before: file(before), after: file(after), resolved: null };
    before = after;
    return touch;
  });
}

const ours = (lines: readonly string[], base: readonly string[] = []): readonly Hunk[] => [
  { kind: 'resolved', lines: ['head\n'] },
  { kind: 'conflict', base, ours: lines, theirs: ['x\n'] },
];

const WORK = touches('1\n2\n3\n', ['a', '1\nA\n3\n'], ['b', '1\nA\n3\nB\n'], ['c', '1\nA\nB\n']);

test.each([
  ['who brought them', ['A\n'], [], 'a'],
  ['who brought them, whatever their line ends', ['A\r\n'], [], 'a'],
  ['the core’s, where they stood there from the beginning', ['1\n'], [], 'core'],
  ['the last one’s who put them together', ['A\n', 'B\n'], [], 'c'],
  ['the one’s who took the others out', [], ['2\n'], 'a'],
  ['the last one’s, where nothing tells', ['?\n'], [], 'c'],
])('disputed lines are %s', (_name, lines, base, expected) => {
  expect(authorOf(WORK, ours(lines, base), 'ours')).toBe(expected);
});

test('a file that no layer touched is the core’s; without lines it is the last one’s', () => {
  expect(authorOf([], ours(['A\n']), 'ours')).toBe('core');
  expect(authorOf(WORK, [], 'ours')).toBe('c');
});
