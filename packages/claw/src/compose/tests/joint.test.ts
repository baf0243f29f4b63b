import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerOfPicks, type HunkChoice } from '../../decisions/choice.ts';
import { type Resolution, subjectOf } from '../../installed/resolution.ts';
import { packageFiles } from '../../package/package-fixture.ts';
import { packageFromFiles } from '../../package/package-from-files.ts';
import { compose } from '../compose.ts';
import type { Decision } from '../resolve-conflict.ts';

const COUNT = 24;
const BASE = Array.from({ length: COUNT }, (_, at) => `line ${at}\n`);
const NAMES = ['a', 'b', 'c', 'd'];

/** Changes of single lines by a layer: other words, a deletion, or an insertion. */
type Edits = readonly { readonly at: number; readonly what: 'change' | 'delete' | 'insert' }[];

const edits: fc.Arbitrary<Edits> = fc.array(
  fc.record({
    at: fc.nat(COUNT - 1),
    what: fc.constantFrom('change' as const, 'delete' as const, 'insert' as const),
  }),
  { minLength: 1, maxLength: 4 },
);

function layerOf(name: string, work: Edits) {
  const text = BASE.map((line, at) => {
    const what = work.find((one) => one.at === at)?.what;
    if (what === 'delete') return '';
    if (what === 'change') return `${name} for ${at}\n`;
    return what === 'insert' ? `${line}${name} behind ${at}\n` : line;
  }).join('');
  const files = packageFiles({
    name,
    modify: { 'a.txt': text },
    files: { 'base/a.txt': BASE.join('') },
  });
  return packageFromFiles(files, { protectedPaths: [] });
}

/** Composes until nothing is open, choosing theirs or ours by the lines alone. @returns the text, and rounds */
function resolved(layers: ReturnType<typeof layerOf>[], isJoint: boolean) {
  const file = { bytes: Buffer.from(BASE.join('')), isExecutable: false };
  const release = (path: string) => (path === 'a.txt' ? file : null);
  const decisions: Decision[] = [];
  for (let rounds = 0; rounds < 10; rounds += 1) {
    const answers = { decisions, resolutions: [] };
    const { conflicts, files } = compose({ release, layers, answers, isJoint });
    const [conflict] = conflicts;
    if (conflict === undefined) {
      return { text: files.get('a.txt')?.file?.bytes.toString() ?? null, rounds };
    }
    const open = conflict.hunks.filter((hunk) => hunk.kind === 'conflict');
    const picks = open.map(
      ({ theirs }): HunkChoice => (theirs.length % 2 === 0 ? 'ours' : 'theirs'),
    );
    const answer = answerOfPicks(conflict, picks);
    decisions.push({ subject: subjectOf(conflict), answer, origin: 'owner', amended: null });
  }
  throw new Error('this never ends');
}

test('asking in one round comes to the same file as asking layer by layer, in no more rounds', () => {
  let saved = 0;
  const works = fc.array(edits, { minLength: 2, maxLength: NAMES.length });
  fc.assert(
    fc.property(works, (all) => {
      const layers = all.map((work, at) => layerOf(NAMES[at] ?? '', work));
      const [together, each] = [resolved(layers, true), resolved(layers, false)];
      expect(together.text).toBe(each.text);
      expect(together.rounds).toBeLessThanOrEqual(each.rounds);
      saved += each.rounds - together.rounds;
    }),
    { numRuns: 400 },
  );
  expect(saved).toBeGreaterThan(20);
});

test('a place that a recording resolves is not asked about in the round of another', () => {
  const two = { at: 2, what: 'change' } as const;
  const twenty = { at: 20, what: 'change' } as const;
  const [a, b, c] = [layerOf('a', [two]), layerOf('b', [two, twenty]), layerOf('c', [twenty])];
  const file = { bytes: Buffer.from(BASE.join('')), isExecutable: false };
  const release = (path: string) => (path === 'a.txt' ? file : null);
  const [known] = compose({ release, layers: [b, c], isJoint: true }).conflicts;
  if (known === undefined) throw new Error('b and c change the same line');
  const answer = answerOfPicks(known, ['theirs']);
  const recording = { key: 'k', isOwn: true, subject: subjectOf(known), answer };
  const resolutions = [{ ...recording, origin: 'owner' } as Resolution];

  const layers = [a, b, c];
  const answers = { decisions: [], resolutions };
  const [asked, ...others] = compose({ release, layers, answers, isJoint: true }).conflicts;
  if (asked === undefined) throw new Error('a and b change the same line');
  expect(others).toEqual([]);
  expect(asked.layers).toEqual(['a', 'b']);
  const open = asked.hunks.filter((hunk) => hunk.kind === 'conflict');
  expect(open.map(({ theirs }) => theirs)).toEqual([['b for 2\n']]);

  const decision = {
    subject: subjectOf(asked),
    answer: answerOfPicks(asked, ['ours']),
    origin: 'owner',
    amended: null,
  };
  const decided = { decisions: [decision], resolutions };
  const { conflicts, files } = compose({ release, layers, answers: decided, isJoint: true });
  expect(conflicts).toEqual([]);
  const text = files.get('a.txt')?.file?.bytes.toString();
  expect(text).toContain('a for 2\n');
  expect(text).toContain('c for 20\n');
});
