import { mergeText } from '../src/merge-text.ts';
import { type Case, withoutBlanks } from './cases.ts';

/** The results of a case's merges, each order of its sides counted: `needless` is a question without need. */
export type Judgement = {
  readonly verdict: 'right' | 'wrong' | 'needless';
  readonly made: Case;
  readonly text: string;
};

/** Merges the sides of a case one after the other, in each order. */
export function judge(made: Case): readonly Judgement[] {
  return ordersOf(made.sides).map((order): Judgement => {
    const [first = '', ...rest] = order;
    let ours = first;
    for (const theirs of rest) {
      const { text, conflicts } = mergeText({ base: made.base, ours, theirs }, { path: made.path });
      ours = text;
      if (conflicts === 0) continue;
      return { verdict: made.mayAsk ? 'right' : 'needless', made, text };
    }
    const isRight = made.right.has(withoutBlanks(ours));
    return { verdict: isRight ? 'right' : 'wrong', made, text: ours };
  });
}

function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}
