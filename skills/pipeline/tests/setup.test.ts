import { expect, test } from 'vitest';
import { setup } from '../../../src/setup/pipeline.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';

async function setUp(answers: readonly string[], environment: Record<string, string> = {}) {
  const { context, written, left } = ownerAtKeyboard(answers);
  return { outcome: await setup.run(environment, context), written, left };
}

test('the step asks what an answer is worth, again where that is no amount, and says what is lacking', async () => {
  const bare = await setUp(['much', '0', '-1', '0.20']);
  expect(bare.written).toEqual({ PIPELINE_ANSWER_USD: '0.20', PIPELINE_LEARNING: 'on' });
  expect(bare.left).toEqual([]);
  expect(bare.outcome).toMatchObject({
    summary: expect.stringMatching(/^A good answer counts \$0\.20\..*npx claw setup model-pools/),
    data: { answerUsd: 0.2, canChoose: false },
  });
  const pooled = await setUp(['1'], { MODEL_POOLS: 'smart=openai/a, openai/b' });
  expect(pooled.outcome).toMatchObject({ data: { canChoose: true } });
  expect(setup.currentState(pooled.written, '/nowhere')).toBe('a good answer counts $1.00');
  expect(setup.currentState({ PIPELINE_LEARNING: 'off' }, '/nowhere')).toBe('learning is off');
});
