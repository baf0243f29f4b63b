import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeFiles } from '../../../../merge/src/merge-files.ts';
import type { Conflict } from '../../conflict.ts';
import { answerOfPicks } from '../../decisions/choice.ts';
import { digestBytes } from '../../digest.ts';
import {
  type Answer,
  type Resolution,
  resolutionKey,
  subjectOf,
} from '../../installed/resolution.ts';
import { parseResolution, renderAnswered } from '../../installed/resolution-file.ts';
import { answeredFile } from '../answer.ts';
import { extractAnswers } from '../extract-answer.ts';
import { resolveConflict } from '../resolve-conflict.ts';
import { contradicts, suggestionsFor } from '../suggestions.ts';

const BASE = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';
const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });

function conflictOf(
  ours: string,
  theirs: string,
  { base = BASE, layers = ['a', 'b'] as const, path = 'notes.txt' } = {},
): Conflict {
  const sides = { base: file(base), ours: file(ours), theirs: file(theirs) };
  const merged = mergeFiles(sides, { path });
  const hunks = merged.kind === 'conflict' ? merged.hunks : [];
  return { path, kind: 'content', layers, reason: 'They differ.', hunks, sides, values: null };
}

const change = (...words: [from: string, to: string][]) =>
  words.reduce((text, [from, to]) => text.replace(from, to), BASE);

const CONFLICT = conflictOf(change(['two', 'a']), change(['two', 'b']));

function answerOf({ hunks }: Conflict, ...words: string[]): Answer {
  const open = hunks.filter((hunk) => hunk.kind === 'conflict');
  return {
    kind: 'hunks',
    hunks: open.map(({ base, ours, theirs }, at) => ({
      base,
      ours,
      theirs,
      resolved: [`${words[at] ?? ''}\n`],
    })),
  };
}

function recorded(conflict: Conflict, answer: Answer, isOwn: boolean): Resolution {
  const subject = subjectOf(conflict);
  const key = resolutionKey(subject, answer);
  return { key, subject, answer, origin: 'owner', digest: digestBytes(key), isOwn };
}

const resolve = (conflict: Conflict, ...resolutions: Resolution[]) =>
  resolveConflict(conflict, { decisions: [], resolutions });

test('a recording from elsewhere resolves the very same conflict, whoever brought the sides', () => {
  const foreign = recorded(CONFLICT, answerOf(CONFLICT, 'both'), false);
  expect(resolve(CONFLICT, foreign)).toMatchObject({
    kind: 'resolved',
    resolved: { keys: [foreign.key] },
  });
  expect(resolve({ ...CONFLICT, layers: ['x', 'y'] }, foreign).kind).toBe('resolved');
  expect(resolve({ ...CONFLICT, path: 'other.txt' }, foreign).kind).toBe('open');
  const elsewhere = conflictOf(change(['two', 'a'], ['eight', 'x']), change(['two', 'b']));
  expect(resolve(elsewhere, foreign).kind).toBe('open');
  expect(suggestionsFor(elsewhere, [foreign])).toEqual([foreign]);
});

test('an own recording resolves the same hunk between the same layers, and only there', () => {
  const own = recorded(CONFLICT, answerOf(CONFLICT, 'both'), true);
  const elsewhere = conflictOf(change(['two', 'a'], ['eight', 'x']), change(['two', 'b']));
  const outcome = resolve(elsewhere, own);
  expect(outcome.kind).toBe('resolved');
  if (outcome.kind === 'open') return;
  expect(answeredFile(elsewhere, outcome.resolved.answer)?.bytes.toString()).toBe(
    change(['two', 'both'], ['eight', 'x']),
  );
  expect(resolve({ ...elsewhere, layers: ['a', 'c'] }, own).kind).toBe('open');
  expect(resolve(conflictOf(change(['two', 'a2']), change(['two', 'b'])), own).kind).toBe('open');
});

test('hunks that a recording resolves are resolved in the conflict that is left', () => {
  const own = recorded(CONFLICT, answerOf(CONFLICT, 'both'), true);
  const two = conflictOf(
    change(['two', 'a'], ['seven', 'A']),
    change(['two', 'b'], ['seven', 'B']),
  );
  const left = resolve(two, own);
  expect(left.kind === 'open' && left.conflict.hunks).toMatchObject([
    { kind: 'resolved', lines: ['one\n', 'both\n', 'three\n', 'four\n', 'five\n', 'six\n'] },
    { kind: 'conflict', ours: ['A\n'], theirs: ['B\n'] },
    { kind: 'resolved', lines: ['eight\n'] },
  ]);
});

test('a decision is stronger than recordings, and what contradicts it is known', () => {
  const own = recorded(CONFLICT, answerOf(CONFLICT, 'both'), true);
  const answer = answerOf(CONFLICT, 'new words');
  const decision = { subject: subjectOf(CONFLICT), answer, origin: 'owner', amended: null };
  const outcome = resolveConflict(CONFLICT, { decisions: [decision], resolutions: [own] });
  expect(outcome).toMatchObject({ resolved: { answer, decision } });
  expect(contradicts(own, CONFLICT, answer)).toBe(true);
  expect(contradicts(own, CONFLICT, answerOf(CONFLICT, 'both'))).toBe(false);
  expect(contradicts({ ...own, isOwn: false }, { ...CONFLICT, path: 'x' }, answer)).toBe(false);
});

test('recordings that disagree resolve nothing and are both named', () => {
  for (const isOwn of [true, false]) {
    const one = recorded(CONFLICT, answerOf(CONFLICT, 'one'), isOwn);
    const other = recorded(CONFLICT, answerOf(CONFLICT, 'other'), isOwn);
    const left = resolve(CONFLICT, one, other);
    expect(left.kind === 'open' && left.conflict.reason).toMatch(
      new RegExp(`${one.key} and ${other.key} disagree`),
    );
  }
});

test('a recorded file that changes what stands around the hunks is not used', () => {
  const whole = (text: string): Answer => ({ kind: 'file', file: file(text) });
  const fair = recorded(CONFLICT, whole(change(['two', 'both'])), false);
  expect(resolve(CONFLICT, fair).kind).toBe('resolved');
  for (const text of [change(['two', 'both'], ['eight', 'steal']), `x\n${BASE}`, '']) {
    expect(resolve(CONFLICT, recorded(CONFLICT, whole(text), false)).kind).toBe('open');
  }
  const gone = recorded(CONFLICT, { kind: 'file', file: null }, false);
  expect(resolve(CONFLICT, gone).kind).toBe('open');
});

test('a recording that does not parse where both sides do is not used', () => {
  const conflict = conflictOf('let a = 1;\n', 'let a = 2;\n', { base: 'let a;\n', path: 'a.ts' });
  expect(resolve(conflict, recorded(conflict, answerOf(conflict, 'let a = 3;'), false)).kind).toBe(
    'resolved',
  );
  const left = resolve(conflict, recorded(conflict, answerOf(conflict, 'let a = ;'), false));
  expect(left.kind === 'open' && left.conflict.reason).toMatch(/does not parse, line 1/);
});

test('a recording that declares twice what no input does is not used', () => {
  const texts = ['let a = 1;\nlet b = 1;\n', 'let b = 2;\nlet c = 2;\n'] as const;
  const conflict = conflictOf(...texts, { base: 'let d;\n', path: 'a.ts' });
  expect(resolve(conflict, recorded(conflict, answerOf(conflict, 'let b = 3;'), false)).kind).toBe(
    'resolved',
  );
  const twice = answerOf(conflict, 'let b = 1;\nlet b = 2;');
  for (const isOwn of [true, false]) {
    const left = resolve(conflict, recorded(conflict, twice, isOwn));
    expect(left.kind === 'open' && left.conflict.reason).toMatch(/has twice `b` \(lines 1 and 2\)/);
  }
});

test('a whole file that was decided here resolves the very same conflict, whatever it changed', () => {
  const whole: Answer = { kind: 'file', file: file(change(['two', 'both'], ['eight', 'more'])) };
  expect(resolve(CONFLICT, recorded(CONFLICT, whole, true)).kind).toBe('resolved');
  const moved = conflictOf(change(['two', 'a'], ['seven', 'x']), change(['two', 'b']));
  expect(resolve(moved, recorded(CONFLICT, whole, true)).kind).toBe('open');
});

test('a finished text comes back from its recording, to the byte', () => {
  const line = fc.constantFrom('a\n', 'b\n', '}\n', '\n', 'c\r\n');
  const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''));
  const pick = fc.oneof(
    fc.constantFrom('ours', 'theirs'),
    text.map((words) => ({ text: words })),
  );
  const texts = fc.record({ base: text, ours: text, theirs: text });
  fc.assert(
    fc.property(texts, fc.infiniteStream(pick), ({ base, ours, theirs }, stream) => {
      const conflict = conflictOf(ours, theirs, { base });
      const open = conflict.hunks.filter(({ kind }) => kind === 'conflict');
      fc.pre(open.length > 0);
      const picks = open.map(() => stream.next().value ?? 'ours');
      const finished = answeredFile(conflict, answerOfPicks(conflict, picks));
      const found = extractAnswers(conflict.hunks, finished?.bytes.toString('latin1') ?? '');
      fc.pre(found !== null);
      const answer: Answer = { kind: 'hunks', hunks: found ?? [] };
      const one = recorded(conflict, answer, false);
      const bytes = renderAnswered({ ...one, origin: 'owner' });
      const read = parseResolution(bytes, { key: one.key, place: 'x.yaml', pinned: null });
      const outcome = resolve(conflict, read);
      expect(outcome.kind).toBe('resolved');
      if (outcome.kind === 'open') return;
      expect(answeredFile(conflict, outcome.resolved.answer)).toEqual(finished);
    }),
    { numRuns: 500 },
  );
});
