import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { isIdle } from '../../../testing/turn/tasks.ts';

const REFUSED = {
  code: 'MODEL_FAILED',
  message: 'The server refused the API key (401).',
  reason: 'key',
} as const;

test('a key that is refused is told once, stands in /status, and is forgotten when it works', async () => {
  using project = new TestProject();
  let isRefused = true;
  const agent: AgentScript = async ({ models: [model] }, events) => {
    if (isRefused) events.onModelPassedOver?.(model, REFUSED);
    else events.onModelAnswer?.(model);
    return answers('pong');
  };
  const assistant = await project.start({ agent });
  const say = async (text: string) => {
    const before = assistant.terminal.sent.length;
    await assistant.terminal.say(text);
    await isIdle(assistant);
    return textsOf(assistant.terminal).slice(before);
  };
  const warning =
    'The server refused the API key (401). Until then other models answer in place of those of anthropic.';
  expect((await say('one')).toSorted()).toEqual([warning, 'pong']);
  expect(await say('two')).toEqual(['pong']);
  expect((await say('/status')).join()).toMatch(/- key of anthropic: refused since .*\(The server/);
  isRefused = false;
  await say('three');
  expect((await say('/status')).join()).not.toContain('refused since');
  isRefused = true;
  expect(await say('four')).toContain(warning);
  await assistant.stop();
});

test('a server that cuts prompts is told to the owner once for each model, with what to do', async () => {
  using project = new TestProject();
  const agent: AgentScript = async ({ models: [model] }, events) => {
    events.onPromptCut?.(model, { sentTokens: 20_310, countedTokens: 4_094 });
    return answers('pong');
  };
  const assistant = await project.start({ agent });
  for (const text of ['one', 'two']) {
    await assistant.terminal.say(text);
    await isIdle(assistant);
  }
  const told = textsOf(assistant.terminal).filter((text) => text !== 'pong');
  expect(told).toEqual([
    expect.stringMatching(/only 4,094 of about 20,310 tokens.*OLLAMA_CONTEXT/),
  ]);
  await assistant.stop();
});
