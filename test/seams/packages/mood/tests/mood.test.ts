import { expect, test } from 'vitest';
import { discoverPromptSections } from '../../../src/host/contracts/prompt-section.ts';
import { openSystemPrompt } from '../../../src/host/turns/agent/system-prompt.ts';
import { promptTurn, promptWays } from '../../../src/testing/turn/prompt-turn.ts';

test('the mood stands after who the agent is, and not in tasks', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const context = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'UTC', log };
  const environment = { ASSISTANT_MOOD: 'merry' };
  const { systemPrompt } = openSystemPrompt(await discoverPromptSections(), environment, context);
  const turn = promptTurn();
  const [, second] = (await systemPrompt(turn, promptWays)).split('\n\n');
  expect(second).toBe('You are merry today, and it shows.');
  expect(await systemPrompt({ ...turn, isTask: true }, promptWays)).not.toContain('merry');
});
