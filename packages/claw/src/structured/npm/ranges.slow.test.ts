import fc from 'fast-check';
import { satisfies } from 'semver';
import { expect, test } from 'vitest';
import { costOfFourfold } from '../../../../../src/testing/growth.ts';
import { intersectRanges } from './ranges.ts';

test.each([
  [['^1.0.0', '^1.2.0'], '^1.2.0'],
  [['^1.2.0', '1.x'], '^1.2.0'],
  [['>=1.2.0', '<2.0.0'], '^1.2.0'],
  [['>=1.2.0', '<3.0.0'], '>=1.2.0 <3.0.0'],
  [['>=1 <3', '^2.1'], '^2.1'],
  [['>=1.2.0 <3', '^2.1.0'], '^2.1.0'],
  [['~1.4.0', '>=1.4.2'], '~1.4.2'],
  [['^0.1', '^0.9'], null],
  [['^0.1.0', '>=0.1.5'], '^0.1.5'],
  [['^1.0.0 || ^2.0.0', '>=1.5.0 <2.5.0'], '>=1.5.0 <2.5.0'],
  [['^1.0.0 || ^3.0.0', '>=1.5.0 <3.5.0'], '^1.5.0 || >=3.0.0 <3.5.0'],
  [['^3.0.0 || ^1.0.0', '>=1.5.0'], '^1.5.0 || ^3.0.0'],
  [['1.2.3', '^1.0.0'], '1.2.3'],
  [['1.2.3 || 1.2.5', '>1.2.3 <2'], '1.2.5'],
  [['1 || 2', '2 || 3', '1 || 3'], null],
  [['1 || 2', '2 || 3', '2 || 4'], '^2.0.0'],
  [['>1.2.3', '<1.2.4'], null],
  [['^1.0.0', 'latest'], null],
  [['^1.0.0', 'git+https://example.org/a.git'], null],
  [['>1.0.0', '>=1.0.0 <4', '<=3.0.0'], '>1.0.0 <=3.0.0'],
  [['^2.0.0-rc.1', '>=2.0.0-rc.3 <3'], '>=2.0.0-rc.3 <3'],
  [['^2.0.0-rc.1', '>=1.0.0 <2.5.0'], '>=2.0.0 <2.5.0'],
  [['2.0.0-rc.1', '^1.0.0 || ^2.0.0'], null],
  [['2.0.0-rc.1', '>=2.0.0-beta'], '2.0.0-rc.1'],
])('%j have %j in common, in any order', (ranges, common) => {
  expect(intersectRanges(ranges)).toBe(common);
  expect(intersectRanges([...ranges].reverse())).toBe(common);
});

test('ranges of many alternatives are intersected, and four times as many cost no power of that', () => {
  const rangesOf = (count: number) => {
    const many = Array.from({ length: count }, (_, at) => `${at * 2}.${at}.x`).join(' || ');
    return [many, '<40', '>=2', `${many} || 99`, '>=1 || 7'];
  };
  expect(intersectRanges(rangesOf(40))).toContain('~38.19');
  // Each alternative of one meets each of the other, so 16 times; a third one would make it 64.
  const cost = costOfFourfold(10, (count) => () => intersectRanges(rangesOf(count)));
  expect(cost).toBeLessThan(40);
});

const number = fc.integer({ min: 0, max: 2 });
const release = fc.tuple(number, number, number).map((parts) => parts.join('.'));
const version = fc
  .tuple(release, fc.constantFrom('', '', '-a', '-a.1', '-b', '-0'))
  .map((parts) => parts.join(''));
const bound = fc.tuple(fc.constantFrom('^', '~', '>=', '>', '<', '<=', ''), version);
const part = fc
  .array(
    bound.map((parts) => parts.join('')),
    { minLength: 1, maxLength: 2 },
  )
  .map((bounds) => bounds.join(' '));
const range = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' || '));

test('a version is in the intersection exactly if every range allows it', () => {
  const all = ['0', '1', '2', '3'].flatMap((major) =>
    ['0', '1', '2', '3'].flatMap((minor) =>
      ['0', '1', '2', '3'].flatMap((patch) =>
        ['', '-0', '-a', '-a.0', '-a.1', '-a.2', '-b', '-c'].map(
          (tail) => `${major}.${minor}.${patch}${tail}`,
        ),
      ),
    ),
  );
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 3 }), (ranges) => {
      const common = intersectRanges(ranges);
      const wrong = all.filter((one) => {
        const isAllowed = ranges.every((text) => satisfies(one, text));
        return isAllowed !== (common !== null && satisfies(one, common));
      });
      expect({ common, wrong }).toEqual({ common, wrong: [] });
    }),
    { numRuns: 300 },
  );
});
