import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../../testing/assistant.ts';
import { COLOURS, chosen, familyAsks, hears, NO } from '../../../testing/turn/asking.ts';
import { FAMILY, isIdle } from '../../../testing/turn/tasks.ts';

test('a question that takes text is answered by the next message of the person asked, whatever it says', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [
    { to: 'bob', text: 'What name?', takesText: true },
    { text: 'A title?', takesText: true },
    { text: 'Really?' },
    { text: 'What?', takesText: true, choices: COLOURS },
  ]);
  const { chat, terminal, family, replies } = assistant;
  await hears(chat, 'What name?\n\nYour next message here is the answer; `cancel` gives none.');
  await hears(terminal, 'A title?\n\nYour next message here is the answer; `cancel` gives none.');
  await hears(terminal, 'Really? Say `2 yes` or `2 no`.');
  await family('1 of mine', { sender: 'eve' });
  await family('', { attachments: [{ kind: 'image', mimeType: null, sizeBytes: 1, name: null }] });
  await hears(chat, 'What was asked last was not answered.');
  await terminal.say('yes');
  await hears(terminal, '- `1 your answer` and the like: A title?');
  await terminal.say('1 Ways home');
  await terminal.say('yes');
  await isIdle(assistant);
  expect(replies).toEqual([
    NO,
    { word: 'text', isAnswered: true, text: 'Ways home' },
    chosen('yes'),
    'A question that takes text has no choices, and a text allows nothing.',
  ]);
  await assistant.stop();
});

test('an answer in own words may be of several lines, begin with a number, or cancel', async () => {
  using project = new TestProject();
  const question = { to: 'bob', text: 'What name?', takesText: true };
  const assistant = await familyAsks(project, [question]);
  const { chat, family, replies } = assistant;
  await hears(chat, 'What name?');
  await family('1 of two\nlines');
  await isIdle(assistant);
  expect(replies).toEqual([{ word: 'text', isAnswered: true, text: '1 of two\nlines' }]);
  await family('@Andy go');
  await vi.waitFor(() => expect(assistant.store.asks.inChat(FAMILY)).toHaveLength(1));
  await family('Cancel.');
  await isIdle(assistant);
  expect(replies).toEqual([{ word: 'cancel', isAnswered: true }]);
  expect(textsOf(chat)).toContain('Noted: no answer.');
  await assistant.stop();
});
