import { expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/model-pools.ts';
import { setup } from '../../../src/setup/model-pools.ts';
import { listOf, startOpenAiServer } from '../../../src/testing/model/openai.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';

async function setUp(answers: readonly string[], environment: Record<string, string> = {}) {
  const { context, written, left } = ownerAtKeyboard(answers);
  return { outcome: await setup.run(environment, context), written, left };
}

test('the step asks for the models, again where they cannot be read, and keeps pools of the owner’s', async () => {
  const { outcome, written } = await setUp(['sonnet', 'anthropic/a, openai/b(max=9)', 'openai/c'], {
    MODEL_POOLS: 'mine=openai/q(context=8000)',
  });
  expect(written).toEqual({
    MODEL_POOLS: 'smart=anthropic/a, openai/b(max=9); cheap=openai/c; mine=openai/q(context=8000)',
    MODEL_POOL_DEFAULT: 'smart',
    MODEL_POOL_FOR: 'summary=cheap, heartbeat=cheap, task=cheap',
  });
  expect(outcome).toMatchObject({
    summary: expect.stringContaining('2 models answer in turn.'),
    data: { pools: ['smart', 'cheap', 'mine'] },
  });
  expect(setup.currentState(written, '/nowhere')).toBe(
    'smart: 2 models, cheap: 1 models, mine: 1 models',
  );
  // Typed behind the dash that stands for none, it is not a name.
  const behind = await setUp(['anthropic/a', '-openai/c', 'openai/c']);
  expect(behind.written).toMatchObject({ MODEL_POOLS: 'smart=anthropic/a; cheap=openai/c' });
  const alone = await setUp(['anthropic/a', '-']);
  expect(alone.written).toMatchObject({ MODEL_POOLS: 'smart=anthropic/a', MODEL_POOL_FOR: '' });
});

test('the doctor looks at each model of each pool', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('large-2'));
  const environment = {
    MODEL_POOLS: 'smart=openai/large-2; cheap=openai/large-1, acme/x, anthropic/haiku',
    MODEL_POOL_FOR: 'summary=tiny',
    OPENAI_API_KEY: 'o',
    OPENAI_BASE_URL: `${server.url}/v1`,
  };
  const found = await examination.examine({
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment,
    settings: readSettings({}, '/nowhere'),
    isOffline: false,
    now: () => 0,
  });
  await server.close();
  expect(found).toMatchObject([
    { ok: true, message: 'smart (default): 1 models' },
    {
      ok: false,
      message: expect.stringMatching(
        /^cheap: 0 of 3 can be asked; openai\/large-1 is not in the list of its server, whose nearest there is openai\/large-2; acme\/x: no provider here has it; anthropic\/haiku: There is no key/,
      ),
    },
    { ok: false, message: 'the pool tiny is named in .env and is not in MODEL_POOLS' },
  ]);
});
