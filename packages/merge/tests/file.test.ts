import { describe, expect, test } from 'vitest';
import { mergeFiles } from '../src/merge-files.ts';
import type { TreeFile } from '../src/versions.ts';

function file(content: string | Buffer, isExecutable = false): TreeFile {
  return { bytes: Buffer.from(content), isExecutable };
}

const base = file('one\ntwo\nthree\n');

describe('the mode of a file', () => {
  test('changes with the side that changed it, beside an edit of the other', () => {
    const ours = file('ONE\ntwo\nthree\n');
    const theirs = file(base.bytes, true);
    const merged = { kind: 'clean', file: file(ours.bytes, true) };
    expect(mergeFiles({ base, ours, theirs })).toEqual(merged);
    expect(mergeFiles({ base, ours: theirs, theirs: ours })).toEqual(merged);
  });

  test('is taken away as cleanly as it is given', () => {
    const executable = file(base.bytes, true);
    const ours = file('ONE\ntwo\nthree\n', true);
    const merge = mergeFiles({ base: executable, ours, theirs: base });
    expect(merge).toEqual({ kind: 'clean', file: file(ours.bytes, false) });
  });

  test('never conflicts by itself: both may change it', () => {
    const executable = file(base.bytes, true);
    const merge = mergeFiles({ base, ours: executable, theirs: executable });
    expect(merge).toEqual({ kind: 'clean', file: executable });
  });

  test('is resolved in a conflict of contents as well', () => {
    const merge = mergeFiles({ base, ours: file('1\n', true), theirs: file('2\n') });
    expect(merge).toMatchObject({ kind: 'conflict', conflict: 'content', isExecutable: true });
  });

  test('counts as an edit against a deletion', () => {
    const ours = file(base.bytes, true);
    expect(mergeFiles({ base, ours, theirs: null })).toEqual({
      kind: 'conflict',
      conflict: 'modify-delete',
      hunks: [],
      isExecutable: true,
    });
  });

  test('of a file that both add is executable where one side says so', () => {
    const merge = mergeFiles({ base: null, ours: base, theirs: file(base.bytes, true) });
    expect(merge).toEqual({ kind: 'clean', file: file(base.bytes, true) });
  });
});

describe('bytes', () => {
  test('that are no UTF-8 survive a merge of lines', () => {
    const line = Buffer.from([0xff, 0xfe, 0x80, 0x0a]);
    const middle = Buffer.from('middle\n');
    const theirs = Buffer.from([0xc3, 0x28, 0x0a]);
    const merge = mergeFiles({
      base: file(Buffer.concat([line, middle])),
      ours: file(Buffer.concat([line, middle, line])),
      theirs: file(Buffer.concat([theirs, middle])),
    });
    expect(merge).toEqual({ kind: 'clean', file: file(Buffer.concat([theirs, middle, line])) });
  });

  test('with a NUL among the first 8,000 are binary, even if only one side has it', () => {
    const ours = file('one\0\ntwo\nthree\n');
    const theirs = file('one\ntwo\nTHREE\n');
    const merge = mergeFiles({ base, ours, theirs });
    expect(merge).toMatchObject({ kind: 'conflict', conflict: 'binary', hunks: [] });
  });

  test('with a NUL further down are text', () => {
    const long = `${'x'.repeat(8000)}\n\0\nend\n`;
    const merge = mergeFiles({
      base: file(long),
      ours: file(`head\n${long}`),
      theirs: file(`${long}tail\n`),
    });
    expect(merge).toEqual({ kind: 'clean', file: file(`head\n${long}tail\n`) });
  });
});

describe('absent files', () => {
  test.each([
    ['an addition', { base: null, ours: null, theirs: base }, base],
    ['a deletion of what nobody touched', { base, ours: base, theirs: null }, null],
    ['a deletion on both sides', { base, ours: null, theirs: null }, null],
    ['nothing at all', { base: null, ours: null, theirs: null }, null],
  ])('merge cleanly: %s', (_, versions, expected) => {
    expect(mergeFiles(versions)).toEqual({ kind: 'clean', file: expected });
  });

  test('make two binary files at one path a conflict without lines', () => {
    const merge = mergeFiles({ base: null, ours: file('\0a'), theirs: file('\0b') });
    expect(merge).toMatchObject({ kind: 'conflict', conflict: 'add-add', hunks: [] });
  });
});
