import { expect, test } from 'vitest';
import type { TreeFile } from '../../../../merge/src/versions.ts';
import { chooseBase } from '../infer-base.ts';

const LINES = ['one', 'two', 'three', 'four', 'five'];

function file(lines: readonly string[]): TreeFile {
  return { bytes: Buffer.from(lines.map((line) => `${line}\n`).join('')), isExecutable: false };
}

function choose(
  candidates: Readonly<Record<string, readonly string[]>>,
  modified: readonly string[],
) {
  const named = Object.entries(candidates).map(([from, lines]) => ({ from, file: file(lines) }));
  const chosen = chooseBase(named, file(modified));
  return chosen && [chosen.from, chosen.changedLines];
}

test('the version that is changed least is what the package was written against', () => {
  const newer = ['zero', ...LINES, 'six', 'seven'];
  const modified = ['one', 'two', 'TWO', 'three', 'four', 'five'];
  expect(choose({ newer, older: LINES }, modified)).toEqual(['older', 1]);
});

test('added and deleted lines both count', () => {
  const longer = [...LINES, 'six', 'seven'];
  expect(choose({ longer, other: LINES.toReversed() }, LINES.slice(1))).toEqual(['longer', 3]);
});

test('ties go to the newest', () => {
  const candidates = { newer: [...LINES, 'a'], spaced: [...LINES, ' a '], older: [...LINES, 'b'] };
  expect(choose(candidates, LINES)).toEqual(['newer', 1]);
  const named = Object.entries(candidates).map(([from, lines]) => ({ from, file: file(lines) }));
  expect(chooseBase(named, file(LINES))?.alsoFits).toEqual(['older']);
});

test('a version that it does not change is never taken, in whatever layout', () => {
  const modified = ['if (x) {', '  say("hello");', '}'];
  const candidates = {
    same: modified,
    reformatted: ['if (x) {', "\tsay('hello')", '', '}'],
    older: ['if (x) {', '}'],
  };
  expect(choose(candidates, modified)).toEqual(['older', 1]);
  expect(choose({ same: modified }, modified)).toBe(null);
  expect(choose({}, modified)).toBe(null);
});

test('layout does not count', () => {
  const reindented = LINES.map((line) => `    ${line},`);
  const modified = [...LINES, 'six'];
  expect(choose({ older: LINES.slice(1), reindented }, modified)).toEqual(['reindented', 1]);
});
