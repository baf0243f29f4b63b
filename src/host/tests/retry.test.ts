import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { commands, FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';

const DOWN = {
  kind: 'failed',
  code: 'MODEL_FAILED',
  message: 'The model is overloaded.',
} as const;
const NOTHING = 'Nothing has failed that could be tried again.';

/** Starts an assistant whose model has failed in the owner's chat and in another one, and works again. */
async function startAfterFailures(project: TestProject) {
  const world = { isDown: true };
  const prompts: string[] = [];
  const assistant = await startWithFamily(project, async ({ prompt }) => {
    prompts.push(prompt);
    return world.isDown ? DOWN : answers(`Yes: ${prompt.includes('mine') ? 'mine' : 'theirs'}`);
  });
  await assistant.terminal.say('mine');
  await assistant.chat.say('@Andy theirs', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(assistant.store.turns.failed()).toHaveLength(2));
  await isIdle(assistant);
  world.isDown = false;
  prompts.length = 0;
  return { ...assistant, prompts };
}

test('/retry asks again in the chat in which it is said, and names the others', async () => {
  using project = new TestProject();
  const assistant = await startAfterFailures(project);
  const { prompts, terminal, chat } = assistant;
  expect(await commands(assistant, '/retry')).toContain('Trying again.');
  await vi.waitFor(() => expect(textsOf(terminal)).toContain('Yes: mine'));
  expect(prompts).toHaveLength(1);
  expect(await commands(assistant, '/retry')).toBe(
    "Nothing has failed here that could be tried again. Something has failed in Family: say `/retry` with the chat's name, or `/retry all`.",
  );
  expect(await commands(assistant, '/retry "Family"')).toBe('Trying again in Family.');
  await vi.waitFor(() => expect(textsOf(chat)).toContain('Yes: theirs'));
  expect(prompts).toHaveLength(2);
  expect(await commands(assistant, '/retry')).toBe(NOTHING);
  await assistant.stop();
});

test('/retry all asks again in every chat; a word that names no chat runs nothing', async () => {
  using project = new TestProject();
  const assistant = await startAfterFailures(project);
  expect(await commands(assistant, '/retry nowhere')).toBe(
    'No registered chat is called nowhere. `/groups` lists them with their numbers.',
  );
  expect(await commands(assistant, '/retry family now')).toBe(
    '`/retry` takes one chat, and does not know “now” after it.',
  );
  expect(assistant.prompts).toEqual([]);
  expect(await commands(assistant, '/retry all')).toContain('Trying 2 chats again.');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('Yes: mine'));
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toContain('Yes: theirs'));
  expect(await commands(assistant, '/retry all')).toBe(NOTHING);
  await assistant.stop();
});
