import { expect, test } from 'vitest';
import { casesOf } from '../testing/cases.ts';
import { FAMILIES } from '../testing/families.ts';
import { judge } from '../testing/judge.ts';
import { seededRandom } from '../testing/random.ts';

test('2,000 pairs and triples of edits, in each order: none wrong, less than 2 % of the safe ones asked about', () => {
  const cases = [...casesOf(FAMILIES, 9, seededRandom(2026))];
  expect(cases.length).toBeGreaterThanOrEqual(2000);
  const judged = cases.flatMap(judge);
  const wrong = judged.filter(({ verdict }) => verdict === 'wrong');
  expect(wrong.map(({ made, text }) => ({ ...made, text }))).toEqual([]);
  const needless = judged.filter(({ verdict }) => verdict === 'needless').length;
  const safe = judged.filter(({ made }) => !made.mayAsk).length;
  console.log(`${cases.length} cases, ${judged.length} merges, ${safe} safe, ${needless} needless`);
  expect(needless / safe).toBeLessThan(0.02);
});
