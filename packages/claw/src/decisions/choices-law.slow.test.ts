import { expect, test } from 'vitest';
import { mergeFiles } from '../../../merge/src/merge-files.ts';
import type { Versions } from '../../../merge/src/versions.ts';
import { casesOf } from '../../../merge/testing/cases.ts';
import { FAMILIES } from '../../../merge/testing/families.ts';
import { fuzzMerge } from '../../../merge/testing/fuzz.ts';
import { seededRandom } from '../../../merge/testing/random.ts';
import { answeredFile, answerFault } from '../compose/answer.ts';
import { conflictHunks } from '../compose/conflict-hunks.ts';
import { resolveConflict } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import type { Choice } from './choice.ts';
import { decide, plainChoice } from './decide.ts';
import { optionsAtPlaces, optionsOf } from './resolution-options.ts';

const RUNS = Number(process.env['CLAW_CHOICES_RUNS'] ?? 400);
const PLACE = { root: '/nowhere', cwd: '/nowhere' };
const ROLES = {
  comes: (layer: string) => layer === 'skill',
  isOwners: (layer: string) => layer === 'your edits',
};

type Merge = { readonly path: string; readonly texts: Versions<string> };

/** Returns the conflict of a merge as the owner is asked about it; null where it is clean. */
function conflictOf({ path, texts }: Merge): Conflict | null {
  const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
  const sides = { base: file(texts.base), ours: file(texts.ours), theirs: file(texts.theirs) };
  const outcome = mergeFiles(sides, { path });
  if (outcome.kind !== 'conflict') return null;
  const hunks = conflictHunks(outcome, sides);
  const layers = ['your edits', 'skill'] as const;
  return { path, kind: outcome.conflict, layers, reason: '', hunks, sides, values: null };
}

/** Returns every choice that is offered: by a word, by a rule, by the name of a side, and by number at each place. */
function offeredFor(conflict: Conflict): readonly Choice[] {
  const places = optionsAtPlaces(conflict);
  const most = Math.max(0, ...places.map((ways) => ways.length));
  const numbers = Array.from({ length: most }, (_, way) =>
    places.map((ways) => Math.min(way + 1, ways.length)),
  );
  const rules = optionsOf(conflict).map(({ rule }): Choice => ({ kind: 'rule', rule }));
  return [
    { kind: 'word', word: 'ours' },
    { kind: 'word', word: 'theirs' },
    { kind: 'take', layer: 'mine' },
    { kind: 'take', layer: 'skill' },
    { kind: 'both-by', first: 'ours' },
    { kind: 'both-by', first: 'skill' },
    ...rules,
    ...numbers.map((some): Choice => ({ kind: 'numbers', numbers: some })),
  ];
}

/** Tells whether a choice leaves no conflict in the file; a refusal is told, any other error is a crash. */
async function resolves(conflict: Conflict, choice: Choice): Promise<boolean> {
  try {
    const decision = decide(PLACE, conflict, await plainChoice(conflict, choice, ROLES));
    const outcome = resolveConflict(conflict, { decisions: [decision], resolutions: [] });
    expect(outcome.kind).toBe('resolved');
    expect(answerFault(conflict, answeredFile(conflict, decision.answer))).toBe(null);
    return true;
  } catch (error) {
    if (error instanceof ClawError && ['USAGE', 'RESOLUTION_INVALID'].includes(error.code)) {
      return false;
    }
    throw error;
  }
}

/** @returns how many conflicts there were */
async function expectAChoice(merges: Iterable<Merge>): Promise<number> {
  let count = 0;
  const stuck: Merge[] = [];
  for (const merge of merges) {
    const conflict = conflictOf(merge);
    if (conflict === null) continue;
    count += 1;
    const results = [];
    for (const choice of offeredFor(conflict)) results.push(await resolves(conflict, choice));
    if (!results.includes(true)) stuck.push(merge);
    // What `claw conflicts` lists as a rule for all of it is no promise that is broken.
    for (const { rule } of optionsOf(conflict)) {
      expect(await resolves(conflict, { kind: 'rule', rule }), rule).toBe(true);
    }
  }
  expect(stuck.slice(0, 3)).toEqual([]);
  return count;
}

test('of the choices that are offered for a conflict at least one resolves it, and none crashes', async () => {
  const random = seededRandom(7);
  function* merges(): Iterable<Merge> {
    for (const { path, base, sides } of casesOf(FAMILIES, 2, random)) {
      const [ours = base, theirs = base] = sides;
      yield { path, texts: { base, ours, theirs } };
    }
  }
  expect(await expectAChoice(merges())).toBeGreaterThan(100);
});

test('the same for random edits, after which a text may not even parse', async () => {
  const random = seededRandom(Number(process.env['CLAW_SEED'] ?? 11));
  function* merges(): Iterable<Merge> {
    for (let run = 0; run < RUNS; run += 1) {
      const { path, base, ours, theirs } = fuzzMerge(random);
      yield { path, texts: { base, ours, theirs } };
    }
  }
  expect(await expectAChoice(merges())).toBeGreaterThan(RUNS / 10);
});
