import { expect, test } from 'vitest';
import { TestProject } from '../../testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily, toolCaller } from '../../testing/turn/tasks.ts';
import { readBounds } from '../../tools/search-history.ts';

const find = (query: string, over: object = {}): [string, object] => [
  'search_history',
  { query, ...over },
];

test('an agent finds what was said in its own chat, by anybody and by itself', async () => {
  using project = new TestProject();
  const caller = toolCaller();
  const assistant = await startWithFamily(project, caller.agent);
  const { chat, terminal, store } = assistant;
  const said = { jid: FAMILY, isDirect: false };
  await chat.say('Grandma arrives on Friday', { ...said, senderName: 'Bob' });
  await terminal.say('The present for Bob is in the cellar');
  await isIdle(assistant);
  store.outbox.add({ messageId: 'x', jid: FAMILY, text: 'Friday it is.' }, Date.UTC(2026, 10, 22));
  const [friday, cellar, here] = await caller.call(
    assistant,
    'family',
    find('friday'),
    find('cellar'),
    find('"', { from: '2026-11-22', until: '2026-11-22' }),
  );
  expect(friday?.value).toBe(
    '[Sun 22 Nov 2026, 01:00] you, the assistant: Friday it is.\n[Sat 21 Nov 2026, 08:01] Bob: Grandma arrives on Friday',
  );
  expect(cellar?.value).toContain('Nothing was found');
  expect(here?.value).toContain('Nothing was found');
  const [theirs] = await caller.call(assistant, 'main', find('friday'));
  expect(theirs?.value).toContain('Nothing was found');
  const [bad, fit] = await caller.call(
    assistant,
    'family',
    find('x', { from: 'yesterday' }),
    find('friday', { limit: 1 }),
  );
  expect(bad).toMatchObject({ ok: false, value: expect.stringContaining('is not a date') });
  expect(fit?.value).toMatch(/\n\(and more;/);
  await assistant.stop();
});

test('all chats of the owner are one history', async () => {
  using project = new TestProject();
  const caller = toolCaller();
  const assistant = await startWithFamily(project, caller.agent);
  const { store, terminal } = assistant;
  store.chats.see({ jid: 'chat:me', channel: 'chat', name: 'Me', isDirect: true }, 1);
  store.groups.registerMain({ jid: 'chat:me', name: 'Phone' }, 1);
  store.outbox.add({ messageId: 'x', jid: 'chat:me', text: 'Buy quinces.' }, 1_000);
  await terminal.say('Were there quinces?');
  await isIdle(assistant);
  const [found] = await caller.call(assistant, 'main', find('quinces'));
  expect(found?.value).toMatch(/in Terminal\] Ada: Were there quinces\?\n.* in Phone\] you, the/);
  await assistant.stop();
});

test('days begin and end where the owner lives, also when the clocks change', () => {
  const zone = 'Europe/Berlin';
  expect(readBounds({ from: '2026-10-25', until: '2026-10-25' }, zone)).toEqual({
    from: Date.parse('2026-10-24T22:00:00Z'),
    until: Date.parse('2026-10-25T23:00:00Z') - 1,
  });
  expect(readBounds({ from: '2026-11-21T08:30', until: '2026-11-21 08:30:10' }, zone)).toEqual({
    from: Date.parse('2026-11-21T07:30:00Z'),
    until: Date.parse('2026-11-21T07:30:59.999Z'),
  });
  for (const from of ['', 'today', '2026-13-01', '2026-02-30', '21.11.2026']) {
    expect(() => readBounds({ from }, zone), from).toThrow('is not a date');
  }
});
