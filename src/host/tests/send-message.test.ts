import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';
import { isIdle, startWithFamily, toolCaller } from '../../testing/turn/tasks.ts';

test('an agent hears whether its message goes now, later, or nowhere', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await startWithFamily(project, tools.agent);
  const { store, chat } = assistant;
  // As a chat whose channel came with a skill that is out again.
  store.chats.see({ jid: 'pigeon:loft', channel: 'pigeon', name: 'Loft', isDirect: false }, 1);
  const loft = { jid: 'pigeon:loft', folder: 'loft', name: 'Loft', triggerWord: null };
  store.groups.register({ ...loft, needsTrigger: true, isMain: false }, 1);

  const send = (group: string) =>
    tools.call(assistant, 'main', ['send_message', { text: 'Tea is ready.', group }]);
  expect(await send('family')).toEqual([{ ok: true, value: 'Queued for Family.' }]);
  expect(textsOf(chat)).toEqual(['Tea is ready.']);
  expect(await send('loft')).toEqual([
    { ok: false, value: expect.stringMatching(/^Nothing was sent: the channel of Loft/) },
  ]);
  await isIdle(assistant);

  chat.become({ state: 'connecting', detail: null });
  const later = tools.call(assistant, 'main', [
    'send_message',
    { text: 'It is cold now.', group: 'family' },
  ]);
  await vi.waitFor(() => expect(store.turns.counts().unsent).toBe(1));
  expect(textsOf(chat)).toEqual(['Tea is ready.']);
  chat.become({ state: 'connected', detail: null });
  expect((await later)[0]?.value).toContain('its channel is not connected now');
  expect(textsOf(chat)).toEqual(['Tea is ready.', 'It is cold now.']);
  await assistant.stop();
});
