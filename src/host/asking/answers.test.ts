import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';
import { ContributionFolder } from '../../testing/contributions.ts';
import { openClosing } from '../../testing/owner/closing-question.ts';
import { COLOURS, chosen, familyAsks, hears } from '../../testing/turn/asking.ts';
import { FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';
import { discoverServices } from '../contracts/service.ts';
import { openServices } from '../services/services.ts';

const BOB = { jid: FAMILY, sender: 'bob', isOwner: false };

test.each([
  ['👍', 'yes'],
  ['👍🏾', 'yes'],
  ['✅', 'yes'],
  ['👎', 'no'],
])('%s on a question is a %s, by the person asked and nobody else', async (emoji, word) => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [{ to: 'bob', text: 'Paint it?' }]);
  const { chat, replies } = assistant;
  await hears(chat, 'Paint it?');
  const messageId = chat.sent.at(-1)?.id ?? '';
  expect(await chat.react({ ...BOB, sender: 'eve', messageId, emoji })).toBe('ignored');
  expect(await chat.react({ ...BOB, sender: 'ada', isOwner: true, messageId, emoji })).toBe(
    'ignored',
  );
  expect(await chat.react({ ...BOB, jid: 'chat:main', messageId, emoji })).not.toBe('answered');
  expect(await chat.react({ ...BOB, messageId, emoji: '🤔' })).not.toBe('answered');
  expect(await chat.react({ ...BOB, messageId, emoji: null })).not.toBe('answered');
  expect(replies).toEqual([]);
  expect(await chat.react({ ...BOB, messageId, emoji })).toBe('answered');
  await isIdle(assistant);
  expect(replies).toEqual([chosen(word)]);
  expect(textsOf(chat)).toContain(`Noted: ${word}.`);
  expect(await chat.react({ ...BOB, messageId, emoji: '👎' })).not.toBe('answered');
  await assistant.stop();
});

test('a question that is no yes or no, or wants a text, is not answered by a thumb', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [
    { to: 'bob', text: 'Which colour?', choices: COLOURS },
    { to: 'bob', text: 'What name?', takesText: true },
  ]);
  const { chat, replies } = assistant;
  await hears(chat, 'Which colour?');
  await hears(chat, 'What name?');
  for (const { id: messageId } of chat.sent) {
    expect(await chat.react({ ...BOB, messageId, emoji: '👍' })).not.toBe('answered');
  }
  expect(replies).toEqual([]);
  await assistant.stop();
});

test('the question that a command ends with goes on at a thumb of the owner’s', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { terminal, store } = assistant;
  const run = '/groups';
  openClosing(store, { text: 'Show them?', declined: 'Nothing was shown.', run });
  const messageId = 'closing-1';
  const jid = 'terminal:main';
  const thumb = { jid, sender: 'ada', isOwner: true, messageId, emoji: '👍' };
  expect(await terminal.react({ ...thumb, isOwner: false })).toBe('ignored');
  expect(await terminal.react(thumb)).toBe('answered');
  await hears(terminal, 'Registered:');
  await assistant.stop();
});

test('a reaction that answers no question is kept as feedback on an answer, and services are told', async () => {
  using project = new TestProject();
  const told: unknown[] = [];
  Object.assign(globalThis, { reactionTest: told });
  using folder = new ContributionFolder({
    'feedback.ts': `import { defineService } from 'src/host/contracts/service.ts';
export const service = defineService({ name: 'feedback', start: ({ store }) => ({
  stop() {}, status: () => null,
  onReaction(reaction) {
    globalThis.reactionTest.push([reaction, store.reactions.since(0).length]);
    if (reaction.emoji === '💥') throw new Error('no');
  },
}) });`,
  });
  const own = await discoverServices(folder.dir);
  const { services } = openServices([...(await discoverServices()), ...own], {});
  const assistant = await startWithFamily(project, undefined, undefined, { services });
  const { chat, store } = assistant;
  await chat.say('@Andy hello', { jid: FAMILY, isDirect: false, sender: 'bob' });
  await isIdle(assistant);
  const { id: messageId = '' } = chat.sent.at(-1) ?? {};
  const [row] = store.turns.failed();
  expect(row).toBeUndefined();
  const on = { ...BOB, messageId };
  expect(await chat.react({ ...on, emoji: '🎉' })).toBe('kept');
  expect(await chat.react({ ...on, emoji: '🎉' })).toBe('ignored');
  expect(await chat.react({ ...on, sender: 'eve', emoji: '👎' })).toBe('kept');
  expect(await chat.react({ ...on, emoji: '💥' })).toBe('kept');
  expect(await chat.react({ ...on, emoji: null })).toBe('kept');
  expect(await chat.react({ ...on, messageId: 'of nobody', emoji: '👍' })).toBe('ignored');
  expect(await chat.react({ ...on, jid: 'chat:elsewhere', emoji: '👍' })).toBe('ignored');
  await vi.waitFor(() => expect(told).toHaveLength(4));
  const turnId = expect.any(String);
  expect(told).toEqual([
    [{ ...on, turnId, emoji: '🎉' }, 1],
    [{ ...on, turnId, sender: 'eve', emoji: '👎' }, 2],
    [{ ...on, turnId, emoji: '💥' }, 2],
    [{ ...on, turnId, emoji: null }, 1],
  ]);
  expect(store.reactions.since(0)).toEqual([{ ...on, turnId, sender: 'eve', emoji: '👎' }]);
  await assistant.stop();
});
