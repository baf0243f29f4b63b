import { expect, test } from 'vitest';
import { findCollisions } from './collisions.ts';

test.each([
  ['two targets by case', ['src/a.ts', 'src/A.ts'], [], ['src/A.ts', 'src/a.ts']],
  ['two targets by form', ['\u00e9.ts', 'e\u0301.ts'], [], ['e\u0301.ts', '\u00e9.ts']],
  ['full case folding', ['stra\u00dfe', 'STRASSE'], [], ['STRASSE', 'stra\u00dfe']],
  ['both small sigmas', ['\u03c3', '\u03c2'], [], ['\u03c2', '\u03c3']],
  ['a target and a file', ['readme.md'], ['README.md'], ['readme.md', 'README.md']],
  ['a file where a folder is needed', ['src/a/b.ts'], ['src/a'], ['src/a/b.ts', 'src/a']],
  ['the same by case', ['Src/A/b.ts'], ['src/a'], ['Src/A/b.ts', 'src/a']],
  ['a folder where a file is wanted', ['src'], ['src/a.ts'], ['src', 'src/a.ts']],
  ['a target inside a target', ['a', 'a/b'], [], ['a/b', 'a']],
])('%s collide', (_, targets, existing, [path, other]) => {
  expect(findCollisions(targets, existing)).toEqual([{ path, other }]);
});

test.each([
  ['changing a file', ['src/a.ts'], ['src/a.ts']],
  ['changing one of two that exist already', ['A'], ['A', 'a']],
  ['a file beside others', ['src/b.ts'], ['src/a.ts', 'b']],
])('%s is no collision', (_, targets, existing) => {
  expect(findCollisions(targets, existing)).toEqual([]);
});
