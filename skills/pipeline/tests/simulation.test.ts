import { expect, test } from 'vitest';
import { drawsOf } from '../../../src/services/pipeline/random-draws.ts';
import {
  type Choice,
  discoverStages,
  type Scored,
  type TaskType,
  type Trajectory,
} from '../../../src/services/pipeline/stage.ts';

/** The share of good answers and the cost of a turn, for each model: best first, as in a pool. */
const MODELS = [
  { name: 'a/best', costUsd: 0.08, good: { Chat: 0.95, ToolUse: 0.94, CodeGeneration: 0.92 } },
  { name: 'b/middle', costUsd: 0.02, good: { Chat: 0.93, ToolUse: 0.9, CodeGeneration: 0.6 } },
  { name: 'c/cheapest', costUsd: 0.002, good: { Chat: 0.9, ToolUse: 0.5, CodeGeneration: 0.3 } },
] as const;
const TYPES = { Chat: 0.1, ToolUse: 0.3, CodeGeneration: 0.6 } as const;
type Type = keyof typeof TYPES;
const isType = (type: string): type is Type => Object.hasOwn(TYPES, type);

const TURNS = 1_500;
/** People say what they think of so many answers. */
const RATED = 0.25;
const WORTH = 0.5;

const stages = await discoverStages();
const models = MODELS.map(({ name }) => ({ name, seesPictures: true, hasTools: true }));

type Policy = (work: Pick<Choice, 'profile' | 'random'>) => string;
type Sum = { good: number; costUsd: number; utility: number };

/** Lets a policy choose for one run of turns; `tell` gets what people say. */
function simulate(seed: string, choose: Policy, tell: (turn: Trajectory) => void = () => {}): Sum {
  // The work, and what becomes of it, is the same for each policy.
  const world = drawsOf(`world ${seed}`);
  const random = drawsOf(`policy ${seed}`);
  const sum = { good: 0, costUsd: 0, utility: 0 };
  const types = Object.keys(TYPES).filter(isType);
  for (let at = 0; at < TURNS; at += 1) {
    const type = types[Math.floor(world() * types.length)] ?? 'Chat';
    const [outcome, spread, speaks] = [world(), world(), world()];
    const complexity = Math.min(1, TYPES[type] + 0.2 * spread);
    const profile = { type: type satisfies TaskType, complexity };
    const model = MODELS.find(({ name }) => name === choose({ profile, random })) ?? MODELS[0];
    const isGood = outcome < model.good[type];
    const costUsd = model.costUsd * (0.5 + spread);
    sum.good += Number(isGood);
    sum.costUsd += costUsd;
    sum.utility += Number(isGood) * WORTH * (0.5 + complexity) - costUsd;
    const value = isGood ? 1 : -1;
    tell({
      ...profile,
      model: model.name,
      state: 'answered',
      costUsd,
      decidedAt: at,
      ...{ fitsShape: null, toolCalls: 0, toolFailures: 0 },
      signals: speaks < RATED ? [{ feedbackType: 'reaction', value }] : [],
    });
  }
  return sum;
}

/** Learns with the stages as they are installed. */
function learner(seed: string): Sum {
  const turns = new Map<TaskType, Scored[]>();
  return simulate(
    seed,
    ({ profile, random }) => {
      const evidence = stages.of('learn', profile.type)(turns.get(profile.type) ?? []);
      const choice = { profile, hasPictures: false, models, evidence, worthUsd: WORTH, random };
      return stages.of('route', profile.type)(choice).first;
    },
    (trajectory) => {
      const { type } = trajectory;
      const reward = stages.of('score', type)(trajectory);
      turns.set(type, [...(turns.get(type) ?? []), { trajectory, reward }]);
    },
  );
}

test('the learner is worth more than always the best and always the cheapest model', () => {
  const rows = ['1', '2', '3'].map((seed) => ({
    seed,
    learner: learner(seed),
    best: simulate(seed, () => 'a/best'),
    cheapest: simulate(seed, () => 'c/cheapest'),
  }));
  for (const { seed, ...sums } of rows) {
    for (const [policy, { good, costUsd, utility }] of Object.entries(sums)) {
      process.stdout.write(
        `seed ${seed}, ${policy.padEnd(8)}: ${good} of ${TURNS} good, cost $${costUsd.toFixed(2)}, utility $${utility.toFixed(2)}\n`,
      );
    }
    const { learner: own, best, cheapest } = sums;
    expect(own.utility).toBeGreaterThan(best.utility);
    expect(own.utility).toBeGreaterThan(cheapest.utility);
    expect(own.costUsd).toBeLessThan(best.costUsd);
    expect(own.good).toBeGreaterThan(cheapest.good);
  }
});
