import { expect, test } from 'vitest';
import { parsePools } from '../../../src/lib/model-pools.ts';
import { routing } from './fixtures.ts';

const SMART = ['anthropic/opus', 'openai/large'];
const CHEAP = ['openai/small', 'anthropic/haiku'];

test('the default pool answers, each kind of work has its own, and any other the default', async () => {
  const { names, warnings } = await routing({
    MODEL_POOL_FOR: 'summary=cheap, heartbeat=cheap, webhook=cheap',
  });
  expect(await names()).toEqual(SMART);
  for (const taskType of ['summary', 'heartbeat', 'webhook']) {
    expect(await names({ taskType })).toEqual(CHEAP);
  }
  expect(await names({ taskType: 'subagent' })).toEqual(SMART);
  // A turn may ask for a pool by its name, as the profile of a sub-agent does; an unknown one is told of once.
  expect(await names({ taskType: 'subagent', pool: 'cheap' })).toEqual(CHEAP);
  expect(warnings).toEqual([]);
  for (const _again of [1, 2]) {
    expect(await names({ taskType: 'subagent', pool: 'tiny' })).toEqual(SMART);
  }
  expect(warnings).toEqual([expect.stringContaining('"pool":"tiny"')]);
  const other = await routing({ MODEL_POOL_DEFAULT: 'cheap' });
  expect(await other.names()).toEqual(CHEAP);
});

test('a model has a window and a limit of its own', async () => {
  const { route } = await routing({});
  const [, large] = (await route()).models;
  expect(large).toMatchObject({ contextTokens: 64_000 });
  expect(large?.adapt({ max_tokens: 9_000 })).toEqual({ max_tokens: 4_000 });
});

test('the kind of work is sent as a header where the pool says so', async () => {
  const { route } = await routing({
    MODEL_POOL_TYPE_HEADER: 'cheap',
    MODEL_POOL_FOR: 'summary=cheap',
  });
  const headersOf = async (taskType: string) =>
    await (await route({ taskType })).models[0].server.headers();
  expect(await headersOf('summary')).toEqual({
    authorization: 'Bearer o',
    'x-task-type': 'summary',
  });
  expect(await headersOf('chat')).toEqual({ 'x-api-key': 'a' });
});

test('a model of /model is asked first and falls through within its pool; one of no pool stands alone', async () => {
  const parts = { MODEL_POOL_FOR: 'summary=cheap' };
  const inPool = await routing(parts, 'openai/large');
  expect(await inPool.names()).toEqual(['openai/large', 'anthropic/opus']);
  expect(await inPool.names({ taskType: 'summary' })).toEqual(CHEAP);
  const alone = await routing(parts, 'openai/of-my-own');
  expect(await alone.names()).toEqual(['openai/of-my-own']);
  expect(await alone.names({ taskType: 'summary' })).toEqual(['openai/of-my-own']);
  expect(await alone.names({ taskType: 'subagent', pool: 'cheap' })).toEqual(CHEAP);
});

test('without pools the model of the settings answers', async () => {
  const { names, silent } = await routing({ MODEL_POOLS: '' });
  expect(await names()).toEqual(['anthropic/of-the-settings']);
  expect(silent).toMatchObject([{ name: 'model-pools', needs: ['MODEL_POOLS'] }]);
});

test.each([
  ['MODEL_POOLS', 'smart', /must be pools by name/],
  ['MODEL_POOLS', 'smart=gpt-5', /no model that can be read in the pool smart/],
  ['MODEL_POOLS', 'a=x/y; a=x/z', /has the pool a twice/],
  ['MODEL_POOLS', 'a=x/y(size=3)', /no model that can be read/],
  ['MODEL_POOL_FOR', 'summary', /must be pools by kind of work/],
  ['MODEL_PROXY', 'two words', /must be the prefix/],
])('%s=%s is named, and the model of the settings answers', async (name, value, problem) => {
  const { names, silent } = await routing({ [name]: value });
  expect(await names()).toEqual(['anthropic/of-the-settings']);
  expect(silent).toMatchObject([{ wrong: [{ name, problem: expect.stringMatching(problem) }] }]);
});

test('a pool that is named and not there is said so', async () => {
  const { names, silent } = await routing({ MODEL_POOL_FOR: 'summary=tiny' });
  expect(await names()).toEqual(['anthropic/of-the-settings']);
  expect(silent).toMatchObject([{ unusable: expect.stringContaining('The pool tiny is named') }]);
});

test('pools are read with their options', () => {
  expect(parsePools('a=x/y(context=8000, max=100), z/w ; b=q/r')).toEqual([
    {
      name: 'a',
      models: [{ name: 'x/y', contextTokens: 8_000, maxTokens: 100 }, { name: 'z/w' }],
    },
    { name: 'b', models: [{ name: 'q/r' }] },
  ]);
});
