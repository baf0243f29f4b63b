import { expect, test } from 'vitest';
import { answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';

test('the light counts the turns of agents, and the questions that wait for the owner', async () => {
  using project = new TestProject();
  const assistant = await project.start({ agent: async () => answers('pong') });
  await assistant.terminal.say('ping');
  await isIdle(assistant);
  await assistant.terminal.say('/status');
  await isIdle(assistant);
  expect(textsOf(assistant.terminal)).toEqual([
    'pong',
    expect.stringContaining('busy-light: running (0 running, 1 ended, 0 questions wait)'),
  ]);
  await assistant.stop();
});
