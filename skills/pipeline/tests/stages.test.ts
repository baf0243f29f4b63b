import { expect, test } from 'vitest';
import { ratingOf } from '../../../src/services/pipeline/emoji.ts';
import { drawBeta, drawsOf } from '../../../src/services/pipeline/random-draws.ts';
import {
  type Choice,
  defineStage,
  discoverStages,
  registryOf,
  type Stage,
  shareOf,
  type Trajectory,
} from '../../../src/services/pipeline/stage.ts';
import { stage as assemble } from '../../../src/services/pipeline/stages/assemble.ts';
import { stage as classify } from '../../../src/services/pipeline/stages/classify.ts';
import { stage as learn } from '../../../src/services/pipeline/stages/learn.ts';
import { stage as route } from '../../../src/services/pipeline/stages/route.ts';
import { stage as score } from '../../../src/services/pipeline/stages/score.ts';
import { stage as transport } from '../../../src/services/pipeline/stages/transport.ts';
import { ContributionFolder } from '../../../src/testing/contributions.ts';

const DEFAULTS = [classify, route, assemble, transport, score, learn] as readonly Stage[];
const SMART = { name: 'a/smart', seesPictures: true, hasTools: true };
const CHEAP = { name: 'b/cheap', seesPictures: false, hasTools: true };
const PROFILE = { type: 'Chat', complexity: 0.5 } as const;

function choice(over: Partial<Choice> = {}): Choice {
  return {
    profile: PROFILE,
    hasPictures: false,
    models: [SMART, CHEAP],
    evidence: [],
    worthUsd: 0.5,
    random: drawsOf('one'),
    ...over,
  };
}

const knows = (model: string, good: number, rated: number, costUsd: number | null) => ({
  model,
  turns: rated,
  rated,
  good,
  costUsd,
});

test('route: the order of the pool holds until something is rated; then worth less cost decides', () => {
  expect(route.run(choice())).toEqual({
    first: 'a/smart',
    why: "No Chat answer has been rated yet, so the pool's order holds.",
  });
  const alike = [knows('a/smart', 190, 200, 0.08), knows('b/cheap', 185, 200, 0.002)];
  const better = [knows('a/smart', 190, 200, 0.08), knows('b/cheap', 60, 200, 0.002)];
  const firsts = (over: Partial<Choice>) =>
    new Set(
      Array.from(
        { length: 40 },
        (_, at) => route.run(choice({ random: drawsOf(`${at}`), ...over })).first,
      ),
    );
  expect(firsts({ evidence: alike })).toEqual(new Set(['b/cheap']));
  expect(firsts({ evidence: better })).toEqual(new Set(['a/smart']));
  // What an answer is worth decides, too.
  expect(firsts({ evidence: better, worthUsd: 0.05 })).toEqual(new Set(['b/cheap']));
  expect(route.run(choice({ evidence: alike })).why).toMatch(
    /^A good answer counts \$0\.500 here\. `a\/smart` drew 0\.\d\d \(190 of 200 good, \$0\.080 a turn\), worth \$0\.\d{3}; `b\/cheap` drew/,
  );
});

test('route: what is not known yet is tried now and then, and the same turn draws the same', () => {
  const evidence = [knows('a/smart', 5, 10, 0.01)];
  const of = (seed: string) => route.run(choice({ evidence, random: drawsOf(seed) })).first;
  const firsts = Array.from({ length: 60 }, (_, at) => of(`${at}`));
  expect(new Set(firsts)).toEqual(new Set(['a/smart', 'b/cheap']));
  expect(Array.from({ length: 60 }, (_, at) => of(`${at}`))).toEqual(firsts);
});

test('route: a model that cannot see or use tools is not first where another can', () => {
  const evidence = [knows('a/smart', 0, 50, 1), knows('b/cheap', 50, 50, 0)];
  expect(route.run(choice({ evidence })).first).toBe('b/cheap');
  expect(route.run(choice({ evidence, hasPictures: true })).first).toBe('a/smart');
  const mute = { ...CHEAP, hasTools: false };
  expect(route.run(choice({ evidence, models: [SMART, mute] })).first).toBe('a/smart');
  expect(route.run(choice({ evidence, models: [mute] })).first).toBe('b/cheap');
});

const TURN: Trajectory = {
  ...PROFILE,
  model: 'a/smart',
  state: 'answered',
  costUsd: 0.02,
  decidedAt: 0,
  signals: [],
  fitsShape: null,
  toolCalls: 0,
  toolFailures: 0,
};

test('score and learn: feedback is the score, no feedback is none, and cost is the mean of what is known', () => {
  const good = { feedbackType: 'reaction', value: 1 } as const;
  const bad = { feedbackType: 'command', value: -1 } as const;
  expect(score.run(TURN)).toBeNull();
  expect(score.run({ ...TURN, signals: [good] })).toBe(1);
  expect(score.run({ ...TURN, signals: [bad] })).toBe(0);
  expect(score.run({ ...TURN, signals: [good, bad] })).toBe(0.5);
  const rated = { ...TURN, signals: [good] };
  expect(
    learn.run([
      { trajectory: rated, reward: 1 },
      { trajectory: { ...TURN, costUsd: 0.04 }, reward: null },
      { trajectory: { ...rated, costUsd: null }, reward: 0.5 },
      { trajectory: { ...TURN, model: 'b/cheap', costUsd: null }, reward: null },
    ]),
  ).toEqual([
    { model: 'a/smart', turns: 3, rated: 2, good: 1.5, costUsd: expect.closeTo(0.03) },
    { model: 'b/cheap', turns: 1, rated: 0, good: 0, costUsd: null },
  ]);
});

test('score and learn: where nobody said anything, the shape of the answer and its tools tell, and count apart', () => {
  const good = { feedbackType: 'reaction', value: 1 } as const;
  expect(score.run({ ...TURN, fitsShape: true })).toBe(1);
  expect(score.run({ ...TURN, fitsShape: false })).toBe(0);
  expect(score.run({ ...TURN, toolCalls: 4, toolFailures: 1 })).toBe(0.75);
  expect(score.run({ ...TURN, fitsShape: false, toolCalls: 2, toolFailures: 0 })).toBe(0.5);
  // What people say decides.
  expect(score.run({ ...TURN, fitsShape: false, signals: [good] })).toBe(1);
  expect(
    learn.run([
      { trajectory: { ...TURN, signals: [good] }, reward: 1 },
      { trajectory: { ...TURN, fitsShape: false }, reward: 0 },
      { trajectory: { ...TURN, toolCalls: 2, toolFailures: 1 }, reward: 0.5 },
      { trajectory: TURN, reward: null },
    ]),
  ).toEqual([
    {
      ...{ model: 'a/smart', turns: 4, rated: 1, good: 1, checked: 2, passed: 0.5 },
      costUsd: expect.closeTo(0.02),
    },
  ]);
});

test('route: what was checked counts a quarter, and nothing before the first rating', () => {
  const failing = { ...knows('a/smart', 0, 0, 0.01), turns: 400, checked: 400, passed: 20 };
  const passing = { ...knows('b/cheap', 0, 0, 0.01), turns: 400, checked: 400, passed: 390 };
  expect(route.run(choice({ evidence: [failing, passing] })).why).toContain('No Chat answer');
  const one = { ...failing, rated: 1, good: 1 };
  expect(route.run(choice({ evidence: [one, passing] })).first).toBe('b/cheap');
  expect(route.run(choice({ evidence: [one, passing] })).why).toContain('5 % of 400 checked');
});

test('a stage is replaced for types of work, and the default serves the others', async () => {
  const reviews = defineStage({
    name: 'reviews-to-the-best',
    stage: 'route',
    for: ['CodeReview'],
    run: ({ models }) => ({ first: models[0]?.name ?? '', why: 'reviews are worth it' }),
  });
  const jokes = defineStage({
    name: 'jokes',
    stage: 'classify',
    for: ['Creative'],
    run: () => ({ type: 'Chat' as const, complexity: 1 }),
  });
  const stages = registryOf([...DEFAULTS, reviews as Stage, jokes as Stage]);
  expect(stages.of('route', 'CodeReview')).toBe(reviews.run);
  expect(stages.of('route', 'Chat')).toBe(route.run);
  const work = { files: [], hasPictures: false, isTask: false, toolsBefore: [] };
  expect(await stages.profileOf({ text: 'tell me a joke', ...work })).toEqual({
    type: 'Chat',
    complexity: 1,
  });
  const twin = { ...reviews, name: 'twin' } as Stage;
  expect(() => registryOf([...DEFAULTS, reviews as Stage, twin])).toThrow(
    'The stages reviews-to-the-best and twin are both for route CodeReview. Take one out.',
  );
  expect(() => registryOf(DEFAULTS.slice(1))).toThrow('The pipeline has no default for classify.');
});

test('what a stage of the owner’s says that is no share is none, and ends nothing', async () => {
  const hard = defineStage({
    name: 'hard',
    stage: 'classify',
    for: ['Chat', 'Unknown'],
    run: ({ text }) => ({ type: 'Chat' as const, complexity: text === 'lost' ? Number.NaN : 7 }),
  });
  const stages = registryOf([...DEFAULTS, hard as Stage]);
  const work = { files: [], hasPictures: false, isTask: false, toolsBefore: [] };
  expect((await stages.profileOf({ text: 'hello', ...work })).complexity).toBe(1);
  expect((await stages.profileOf({ text: 'lost', ...work })).complexity).toBe(0.5);
  expect([shareOf(-3, null), shareOf(Number.NaN, null), shareOf(null, null)]).toEqual([
    0,
    null,
    null,
  ]);
  // More good than rated, and no number at all: a draw of them never ended.
  const evidence = [knows('a/smart', 9, 3, 0.1), knows('b/cheap', Number.NaN, 3, Number.NaN)];
  expect(route.run(choice({ evidence })).first).toMatch(/^[ab]\//);
});

test('stages are the files of a folder; one that does not fit is named', async () => {
  using folder = new ContributionFolder({
    'short.ts': `export const stage = { name: 'short', stage: 'transport', for: ['Poetry'], run: () => ({}) };`,
  });
  await expect(discoverStages(folder.dir)).rejects.toThrow(/short\.ts.*defineStage/s);
  expect((await discoverStages()).of('learn', 'Unknown')).toBe(learn.run);
});

test('draws of a Beta distribution have its mean and variance', () => {
  const random = drawsOf('moments');
  const draws = Array.from({ length: 20_000 }, () => drawBeta(8, 3, random));
  const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
  const variance = draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / draws.length;
  expect(mean).toBeCloseTo(8 / 11, 2);
  expect(variance).toBeCloseTo(24 / (121 * 12), 3);
});

test.each([
  ['👍', 1],
  ['👍🏽', 1],
  ['❤️', 1],
  ['👎', -1],
  ['👎🏿', -1],
  ['🤔', null],
  ['', null],
])('the reaction %s counts %s', (emoji, value) => {
  expect(ratingOf(emoji)).toBe(value);
});
