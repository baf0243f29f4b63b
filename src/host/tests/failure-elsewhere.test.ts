import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';

test('a failure in another chat is told to the owner once, and to members without names of hosts', async () => {
  using project = new TestProject();
  const world = { isDown: true };
  const message = 'The model at 127.0.0.1:4921 cannot be reached.';
  const assistant = await project.start({
    agent: async () =>
      world.isDown
        ? { kind: 'failed', code: 'MODEL_FAILED', message, reason: 'down' }
        : answers('pong'),
  });
  const { terminal, chat, store } = assistant;
  const jid = 'chat:family';
  await chat.meet(jid, 'Family');
  const group = { jid, folder: 'family', name: 'Family', needsTrigger: false, triggerWord: null };
  store.groups.register({ ...group, isMain: false }, 1);
  const say = (text: string) => chat.say(text, { jid, isDirect: false, isOwner: false });
  await say('hello?');
  await vi.waitFor(() => expect(chat.sent).toHaveLength(1));
  await say('anybody?');
  await vi.waitFor(() => expect(chat.sent).toHaveLength(2));
  expect(textsOf(chat).join()).not.toContain('4921');
  const told = () => textsOf(terminal).filter((text) => text.includes(message));
  await vi.waitFor(() => expect(told()).toEqual([expect.stringContaining('in Family')]));
  // After an answer, the next trouble is a new one.
  world.isDown = false;
  await say('now?');
  await vi.waitFor(() => expect(textsOf(chat)).toContain('pong'));
  world.isDown = true;
  await say('again?');
  await vi.waitFor(() => expect(told()).toHaveLength(2));
  await assistant.stop();
});
