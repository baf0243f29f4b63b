import { expect, test, vi } from 'vitest';
import { TestProject } from '../../testing/assistant.ts';
import { ask } from '../../testing/owner/owner-chat.ts';

test('a yes that may be meant for something said since is no yes: the question is asked once more', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { store, chat } = assistant;
  await chat.meet('chat:book-club', 'Book club');
  await ask(assistant, '/register Book club', 'Book club');
  await ask(assistant, '/unregister Book club delete', 'Say yes or no');
  // As a task of the agent's, or its send_message from another chat, would say it.
  const text = 'Shall I water the plants? Say yes or no.';
  const saidAt = Date.now() + 1;
  store.outbox.add({ messageId: 'm1', jid: 'terminal:main', text, turnId: null }, saidAt);
  // The question that is put once more counts as later than this only from the next millisecond on.
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(saidAt));
  const again = await ask(assistant, 'yes', 'once more');
  expect(again).toMatch(/Something else was said here since I asked.*Book club.*Say yes or no/s);
  expect(store.groups.byJid('chat:book-club')).not.toBeNull();
  await ask(assistant, 'yes', 'deleted');
  expect(store.groups.byJid('chat:book-club')).toBeNull();
  await assistant.stop();
});
