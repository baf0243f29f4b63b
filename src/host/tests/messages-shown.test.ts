import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';

const FAMILY = { jid: 'chat:family', isDirect: false } as const;

test.each([
  [undefined, 50],
  ['80', 80],
  ['5', 5],
])('with CONTEXT_MESSAGES=%s an agent sees the newest %d messages', async (setting, count) => {
  using project = new TestProject();
  const prompts: string[] = [];
  const agent = async ({ prompt }: { readonly prompt: string }) => {
    prompts.push(prompt);
    return answers('seen');
  };
  const environment = setting === undefined ? {} : { CONTEXT_MESSAGES: setting };
  const assistant = await project.start({ agent, environment });
  await assistant.chat.meet(FAMILY.jid, 'Family');
  await assistant.terminal.say('/register Family');
  await vi.waitFor(() => expect(assistant.store.groups.byJid(FAMILY.jid)).not.toBeNull());
  for (let at = 1; at < 100; at += 1) await assistant.chat.say(`line ${at}`, FAMILY);
  await assistant.chat.say('@Andy what was said?', FAMILY);
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toContain('seen'));
  const [prompt = ''] = prompts;
  expect(prompt.match(/: line \d+$/gm)?.length).toBe(count - 1);
  expect(prompt).toContain(`(and ${100 - count} more messages before these)`);
  await assistant.stop();
});
