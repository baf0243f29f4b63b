import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeFiles } from '../../../merge/src/merge-files.ts';
import { answeredFile } from '../compose/answer.ts';
import { resolveConflict } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { digestBytes } from '../digest.ts';
import { resolutionKey } from '../installed/resolution.ts';
import type { PlainChoice } from './choice.ts';
import { decide } from './decide.ts';

const BASE = 'head\none\ntwo\nmiddle\nthree\nfour\ntail\n';
const OURS = BASE.replace('one\ntwo', 'a1\na2').replace('three\nfour', 'a3\na4');
const THEIRS = BASE.replace('one\ntwo', 'b1\nb2').replace('three\nfour', 'b3\nb4');

function conflictOf(path: string, texts: readonly [base: string, ours: string, theirs: string]) {
  const [base, ours, theirs] = texts.map((text) => ({
    bytes: Buffer.from(text),
    isExecutable: true,
  }));
  const sides = { base: base ?? null, ours: ours ?? null, theirs: theirs ?? null };
  const merged = mergeFiles(sides, { path });
  const hunks = merged.kind === 'conflict' ? merged.hunks : [];
  const layers = ['a', 'b'] as const;
  return { path, kind: 'content', layers, reason: '', hunks, sides, values: null } as const;
}

/** Returns the decision of a choice, with files beside it and below `.claw/pending/`. */
function decided(
  conflict: Conflict,
  choice: PlainChoice,
  files: Readonly<Record<string, string>> = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'claw-decide-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const decision = decide({ root, cwd: root }, conflict, choice);
    const { answer, amended } = decision;
    const text = answer.kind === 'value' ? null : answeredFile(conflict, answer)?.bytes.toString();
    return { decision, kind: answer.kind, text, amended: amended?.toString() ?? null };
  } finally {
    rmSync(root, { recursive: true });
  }
}

const CONFLICT = conflictOf('notes.txt', [BASE, OURS, THEIRS]);
const withText = (text: string) =>
  decided(CONFLICT, { kind: 'with', given: 'x.txt' }, { 'x.txt': text });

test('a text is taken apart into answers for the hunks', () => {
  const text = OURS.replace('a3\na4', 'both');
  expect(withText(text)).toMatchObject({ kind: 'hunks', text, amended: null });
});

test('what it changes around them is kept apart', () => {
  const text = OURS.replace('tail', 'TAIL');
  expect(withText(text)).toMatchObject({ kind: 'hunks', text: OURS, amended: text });
});

test('if hunks touch, one answer stands for all, and can be recorded as such', () => {
  const text = 'head\nall of it anew\ntail\n';
  const found = withText(text);
  expect(found).toMatchObject({ kind: 'file', text, amended: null });
  const { subject, answer } = found.decision;
  const key = resolutionKey(subject, answer);
  const one = { key, subject, answer, origin: 'owner', digest: digestBytes(key), isOwn: false };
  const outcome = resolveConflict(CONFLICT, { decisions: [], resolutions: [one] });
  expect(outcome.kind).toBe('resolved');
  const more = 'HEAD\nall of it anew\ntail\n';
  expect(withText(more)).toMatchObject({ kind: 'file', text, amended: more });
});

test('the text below .claw/pending counts once no marker is left in it', () => {
  const place = '.claw/pending/notes.txt';
  const edited = { kind: 'edited' } as const;
  expect(decided(CONFLICT, edited, { [place]: THEIRS })).toMatchObject({ text: THEIRS });
  for (const line of ['<<<<<<< a', '||||||| base', '=======', '>>>>>>> b']) {
    expect(() => decided(CONFLICT, edited, { [place]: `${OURS}${line}\n` })).toThrow(
      expect.objectContaining({ code: 'MARKERS_PRESENT' }),
    );
  }
  expect(() => decided(CONFLICT, edited)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test('an answer must not break a file that no side has broken', () => {
  const json = (value: string) => `{\n  "a": ${value}\n}\n`;
  const conflict = conflictOf('a.json', [json('1'), json('2'), json('3')]);
  const given = (text: string) => decided(conflict, { kind: 'with', given: 'x' }, { x: text });
  expect(given(json('[2, 3]')).text).toBe(json('[2, 3]'));
  expect(() => given(json('[2, 3'))).toThrow(
    expect.objectContaining({ code: 'RESOLUTION_INVALID', data: { line: 3 } }),
  );
  const yaml = conflictOf('a.yml', ['a: 1\n', 'a: 2\n', 'a: 3\n']);
  expect(() => decided(yaml, { kind: 'with', given: 'x' }, { x: 'a: "2\n' })).toThrow(
    /a\.yml does not parse, line \d/,
  );
});

test('no answer may declare twice what no input declares twice, whoever gives it', () => {
  const line = (word: string) => `export const ${word} = 1;\n`;
  const conflict = conflictOf('a.ts', [line('a'), line('b') + line('c'), line('c') + line('d')]);
  const refused = expect.objectContaining({
    code: 'RESOLUTION_INVALID',
    message: expect.stringContaining('a.ts has twice `c` (lines 2 and 3). No side has.'),
    data: { line: 3 },
  });
  const both: PlainChoice = { kind: 'both', first: 'ours' };
  const picks: PlainChoice = { kind: 'picks', picks: ['ours-theirs'], origin: 'a model' };
  for (const choice of [both, picks, { kind: 'with', given: 'x' }] as const) {
    const text = line('b') + line('c') + line('c') + line('d');
    expect(() => decided(conflict, choice, { x: text })).toThrow(refused);
  }
  expect(decided(conflict, { kind: 'ours' }).text).toBe(line('b') + line('c'));
  const twice = conflictOf('a.ts', [line('a'), line('c') + line('c'), line('d')]);
  expect(decided(twice, { kind: 'ours' }).text).toBe(line('c') + line('c'));
});

test('an answer that only holds with what was changed around it is one with it', () => {
  const base = 'start();\nrun(1);\nend();\n\nstop();\n';
  const ours = base.replace('run(1)', 'if (a) {\n  run(1)');
  const conflict = conflictOf('a.ts', [base, `${ours}}\n`, base.replace('run(1)', 'run(2)')]);
  const whole = base.replace('run(1)', 'run(2)');
  expect(() => decided(conflict, { kind: 'theirs' })).toThrow(/a\.ts does not parse, line 6/);
  const found = decided(conflict, { kind: 'with', given: 'x' }, { x: whole });
  expect(found).toMatchObject({ kind: 'file', text: whole, amended: null });
});

test('a value is read by the rules of its key', () => {
  const values = { base: null, ours: '^1.0.0', theirs: '^2.0.0' };
  const path = 'package.json#dependencies.x';
  const conflict: Conflict = { ...CONFLICT, path, kind: 'structured', hunks: [], values };
  const answer = (choice: PlainChoice) => decided(conflict, choice).decision.answer;
  expect(answer({ kind: 'theirs' })).toEqual({ kind: 'value', value: '^2.0.0' });
  expect(answer({ kind: 'with', given: '~2.1.0' })).toEqual({ kind: 'value', value: '~2.1.0' });
  expect(answer({ kind: 'value', value: null, origin: 'm' })).toEqual({
    kind: 'value',
    value: null,
  });
  for (const choice of [
    { kind: 'with', given: 'git+ssh://x' },
    { kind: 'value', value: '*' },
  ] as const) {
    expect(() => answer(choice)).toThrow(expect.objectContaining({ code: 'DEPENDENCY_REFUSED' }));
  }
  expect(() => decided(CONFLICT, { kind: 'value', value: 1 })).toThrow(/takes a text/);
});

test('a file is given, not a folder, and not one that is missing', () => {
  for (const [given, code] of [
    ['gone', 'FILE_MISSING'],
    ['.', 'FILE_KIND'],
  ] as const) {
    expect(() => decided(CONFLICT, { kind: 'with', given })).toThrow(
      expect.objectContaining({ code }),
    );
  }
});
