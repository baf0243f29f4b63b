import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { brokenEnvLines, cutEnvValues } from './env-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('lines that set nothing are named, and what dotenv takes is let through', () => {
  expect(brokenEnvLines(folder)).toEqual([]);
  const fine = [
    '',
    '# a comment',
    'A=1',
    'export B = two words',
    'C="quoted # too"',
    "D='x' # why",
  ];
  const pem = ['PEM="-----BEGIN', 'no setting in here', '-----END"', 'EMPTY='];
  writeFileSync(join(folder, '.env'), `\uFEFF${[...fine, ...pem].join('\r\n')}\r\n`);
  expect(brokenEnvLines(folder)).toEqual([]);
  const broken = ['this is broken', 'CLAW_MAX_AGENTS 2', 'OK=1', 'ASSISTANT_NAME="Ann', ''];
  writeFileSync(join(folder, '.env'), broken.join('\n'));
  expect(brokenEnvLines(folder)).toEqual([
    'Line 1 of .env is not a setting: write NAME=value.',
    'Line 2 of .env is not a setting: write NAME=value.',
    'Line 4 of .env has a quote that is never closed.',
  ]);
  writeFileSync(join(folder, '.env'), Buffer.from('# \xe9\nA=1\nNAME=Zo\xeb\n', 'latin1'));
  expect(brokenEnvLines(folder)).toEqual(['Line 3 of .env is no UTF-8: save it as that.']);
});

test('a value that is cut at a "#" is named, never shown; a comment and a quoted value are not', () => {
  const lines = [
    'A=abc#def',
    'B=abc # why',
    'C="abc#def"',
    '# D=a#b',
    "E='a",
    "x#y'",
    'export F=a#b',
  ];
  writeFileSync(join(folder, '.env'), lines.join('\n'));
  expect(cutEnvValues(folder)).toEqual([
    expect.stringContaining('Line 1 of .env: A ends before its "#"'),
    expect.stringContaining('Line 7 of .env: F ends before its "#"'),
  ]);
  expect(cutEnvValues(folder).join()).not.toContain('def');
});
