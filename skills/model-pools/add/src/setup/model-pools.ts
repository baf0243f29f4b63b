import { PoolSettings, parsePools, poolFor, unknownPools } from '../lib/model-pools.ts';
import { defineSetup } from './step.ts';

const NO_POOL = '-';
const HOW =
  'Type names with their provider, and commas between, such as anthropic/claude-sonnet-4-5, openai/gpt-5.';

export const setup = defineSetup({
  name: 'model-pools',
  help: 'models that stand in for each other, and cheaper ones for summaries and background work',
  settings: PoolSettings,
  currentState({ settings: { MODEL_POOLS: pools } }) {
    if (pools.length === 0) return null;
    return pools.map(({ name, models }) => `${name}: ${models.length} models`).join(', ');
  },
  async run({ ask, say, write, settings, settingsWith }) {
    say('A pool is a list of models, best first: where one gives no answer, the next is asked.');
    say(
      '`/model` in your own chat lists their names; `npx claw chat /model` does in another shell.',
    );
    const list = (name: string): string =>
      (settings.MODEL_POOLS.find((pool) => pool.name === name)?.models ?? [])
        .map((model) => model.name)
        .join(', ');
    const check = (mayBeNone: boolean) => (typed: string) => {
      if (mayBeNone && typed === NO_POOL) return null;
      const pools = parsePools(`x=${typed}`);
      if (typeof pools === 'string') return HOW;
      // A dash that was left in front of a name is not part of it.
      const odd = pools
        .flatMap(({ models }) => models)
        .find(({ name }) => /^[^a-z0-9]/i.test(name));
      return odd === undefined ? null : `“${odd.name}” is not a name of a model. ${HOW}`;
    };
    const smart = await ask({
      message: 'The models that answer, best first, with commas',
      initial: list('smart'),
      check: check(false),
    });
    const cheap = await ask({
      message: `Cheaper ones for summaries, heartbeats and tasks; ${NO_POOL} for none`,
      ...(list('cheap') === '' ? { proposed: NO_POOL } : { initial: list('cheap') }),
      check: check(true),
    });
    // Pools that were written by hand stay.
    const others = settings.MODEL_POOLS.filter(({ name }) => !['smart', 'cheap'].includes(name));
    const kept = others.map(({ name, models }) => `${name}=${models.map(textOf).join(', ')}`);
    const values = {
      MODEL_POOLS: [
        `smart=${smart}`,
        ...(cheap === NO_POOL ? [] : [`cheap=${cheap}`]),
        ...kept,
      ].join('; '),
      MODEL_POOL_DEFAULT: 'smart',
      MODEL_POOL_FOR: cheap === NO_POOL ? '' : 'summary=cheap, heartbeat=cheap, task=cheap',
    };
    const next = settingsWith(values);
    const pool = poolFor(next, 'chat');
    write(values);
    const stale = unknownPools(next);
    const warning = stale.length === 0 ? '' : ` No pool is called ${stale.join(' or ')} any more.`;
    return {
      summary: `${pool?.models.length ?? 0} models answer in turn. \`npx claw doctor\` asks whether they are there.${warning}`,
      data: { pools: next.MODEL_POOLS.map(({ name }) => name) },
    };
  },
});

function textOf(model: { name: string; contextTokens?: number; maxTokens?: number }): string {
  const { name, contextTokens, maxTokens } = model;
  const options = [
    ...(contextTokens === undefined ? [] : [`context=${contextTokens}`]),
    ...(maxTokens === undefined ? [] : [`max=${maxTokens}`]),
  ];
  return options.length === 0 ? name : `${name}(${options.join(' ')})`;
}
