import { expect, test } from 'vitest';
import { casesOf } from '../testing/cases.ts';
import { FAMILIES } from '../testing/families.ts';
import { judge } from '../testing/judge.ts';
import { seededRandom } from '../testing/random.ts';

// `generated.long.test.ts` has more of them, with other numbers.
test('made-up edits of some thirty kinds of lists: none is merged wrong, and none is asked about without need', () => {
  expect(FAMILIES.length).toBeGreaterThanOrEqual(30);
  const judged = [...casesOf(FAMILIES, 2, seededRandom(13))].flatMap(judge);
  const told = judged.filter(({ verdict }) => verdict !== 'right');
  expect(told.map(({ verdict, made, text }) => ({ verdict, ...made, text }))).toEqual([]);
});
