import { expect, test } from 'vitest';
import type { Tree } from '../../../merge/src/versions.ts';
import { packFiles, unpackFiles } from './claw-folder.ts';

const FILES: Tree = new Map([
  ['tests/a.test.ts', { bytes: Buffer.from('no last line end'), isExecutable: false }],
  ['add/run.sh', { bytes: Buffer.from('#!/bin/sh\n'), isExecutable: true }],
  ['add/empty', { bytes: Buffer.alloc(0), isExecutable: false }],
  ['add/data.bin', { bytes: Buffer.from([0, 10, 255, 13, 10]), isExecutable: false }],
]);

test('packed files come out to the byte and the mode', () => {
  const found = unpackFiles(packFiles(FILES));
  expect(new Map(found)).toEqual(FILES);
});

test('the order of the files makes no difference', () => {
  expect(packFiles(new Map([...FILES].reverse()))).toEqual(packFiles(FILES));
});

test('a packed file that is cut, too long, or not packed at all gives no files', () => {
  const packed = packFiles(FILES);
  for (const bytes of [
    packed.subarray(0, -1),
    Buffer.concat([packed, Buffer.from('x')]),
    Buffer.from(''),
    Buffer.from('no line'),
    Buffer.from('[]\n'),
    Buffer.from('{"files":[]}\n'),
    Buffer.from('{"files":[{"path":"a","sizeBytes":-1}]}\n'),
    Buffer.from('{"files":[{"path":"a","sizeBytes":1e99}]}\n'),
    Buffer.from('{"files":[{"path":1,"sizeBytes":0}]}\n'),
    Buffer.from('{"files":[null]}\n'),
  ]) {
    expect(unpackFiles(bytes)).toBe(null);
  }
});
