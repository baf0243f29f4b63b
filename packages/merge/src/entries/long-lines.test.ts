import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../../src/testing/growth.ts';
import { readDockerfile, readKeyedLines, readMarkdown, readYamlMaps } from './entry-readers.ts';

const CHARACTERS = 8_000;

test.each<[string, (lines: readonly string[]) => unknown, (size: number) => readonly string[]]>([
  ['a key of YAML', readYamlMaps, (size) => [`(${' '.repeat(size)}\u0001`]],
  ['a value of YAML', readYamlMaps, (size) => [`a: ${' '.repeat(size)}b\u2028`]],
  ['a value of settings', readKeyedLines, (size) => [`a=${'\t'.repeat(size)}b\u2028`]],
  [
    'a row under the head of a table',
    readMarkdown,
    (size) => ['| a | b |', `${' '.repeat(size)}x|`],
  ],
  ['a command of a Dockerfile', readDockerfile, (size) => [`${'add '.repeat(size)};\\`]],
])('%s of one long line is read in time that grows with its length', (_what, read, make) => {
  const cost = costOfFourfold(CHARACTERS, (size) => {
    const lines = make(size);
    return () => void read(lines);
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
});

test('the last command of a line of a Dockerfile decides whether packages follow', () => {
  const keys = (head: string) => readDockerfile([head, '  curl \\']).map(({ key }) => key);
  expect(keys('RUN apt-get update && apt-get install \\')).toEqual([null, 'curl']);
  expect(keys('RUN apt-get install git && echo \\')).toEqual([null, null]);
  expect(keys('RUN apt-get install git')).toEqual([null, null]);
});
