import { expect, test, vi } from 'vitest';
import { answers, TestProject } from '../../testing/assistant.ts';

test('a command is answered, and told to be, while the agent still works for somebody else', async () => {
  using project = new TestProject();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const agent = async () => {
    await released;
    return answers('done');
  };
  const { terminal, stop } = await project.start({ agent });
  const told: string[] = [];
  Object.assign(terminal, {
    answered: (_jid: string, ids: readonly string[]) => void told.push(ids.join()),
  });
  await terminal.say('think long', { id: 'one' });
  await terminal.say('/groups', { id: 'two' });
  await terminal.say('and more', { id: 'three' });
  await vi.waitFor(() => expect(told).toEqual(['two']));
  expect(terminal.sent).toMatchObject([{ answersTo: ['two'] }]);
  const acknowledgedAtStart = ['terminal:main'];
  expect(terminal.acknowledged).toEqual(acknowledgedAtStart);
  release();
  await vi.waitFor(() => expect(terminal.acknowledged.length).toBeGreaterThan(1));
  expect(told).toEqual(['two', 'one', 'three']);
  expect(terminal.sent.slice(1)).toMatchObject([
    { text: 'done', answersTo: ['one'] },
    { text: 'done', answersTo: ['three'] },
  ]);
  await stop();
});

test('a message that nobody asked for answers nothing', async () => {
  using project = new TestProject();
  const { terminal, store, stop } = await project.start({
    over: { log: { info() {}, warn() {}, error() {} } },
  });
  Object.assign(terminal, { answered: () => {} });
  store.outbox.add({ messageId: 'm', jid: 'terminal:main', text: 'a reminder' }, 0);
  await terminal.say('/groups', { id: 'one' });
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(2));
  expect(terminal.sent[0]).not.toHaveProperty('answersTo');
  expect(terminal.sent[1]).toMatchObject({ answersTo: ['one'] });
  await stop();
});
