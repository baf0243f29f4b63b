import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';

/** An agent in a loop, which says something again and again. */
const endless: AgentScript = async ({ folder }, { onTool }) => {
  let said = 0;
  for (let count = 0; count < 150; count += 1) {
    const input = { text: `message ${count}` };
    const { ok } = await onTool({ name: 'send_message', input, folder });
    if (ok) said += 1;
  }
  return answers(`said ${said}`);
};

test('an agent that says something again and again is stopped from it, and its answer comes', async () => {
  using project = new TestProject();
  const assistant = await project.start({ agent: endless });
  const { chat } = assistant;
  await chat.say('hello', { isDirect: true, isOwner: false });
  await vi.waitFor(() => expect(textsOf(chat).at(-1)).toBe('said 100'));
  expect(chat.sent).toHaveLength(101);
  await assistant.stop();
});
