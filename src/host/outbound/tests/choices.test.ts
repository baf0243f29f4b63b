import { expect, test } from 'vitest';
import { TestProject } from '../../../testing/assistant.ts';
import { chosen, familyAsks, hears } from '../../../testing/turn/asking.ts';
import { FAMILY, isIdle } from '../../../testing/turn/tasks.ts';

const LONG = [
  { word: 'ours', label: 'keep mine, with all of the colours as they are now' },
  { word: 'theirs', label: 'take theirs' },
];

test('choices that are too long for a button are numbered in the text, and the buttons have the numbers', async () => {
  using project = new TestProject();
  const question = { to: 'bob', text: 'Which side?', choices: LONG };
  const assistant = await familyAsks(project, [question], ({ chat }) => {
    chat.capabilities = { choices: { most: 9, longest: 20 } };
  });
  const { chat, replies } = assistant;
  await hears(chat, 'Which side?');
  const { text, choices } = chat.sent.at(-1) ?? {};
  expect(text).toContain('1. keep mine, with all of the colours as they are now\n2. take theirs');
  expect(choices?.options).toEqual([
    { word: 'ours', label: '1 ours' },
    { word: 'theirs', label: '2 theirs' },
  ]);
  const press = { jid: FAMILY, sender: 'bob', isOwner: false, question: choices?.question ?? '' };
  expect(await chat.press({ ...press, word: '1' })).toBe('noted');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('ours')]);
  await assistant.stop();
});
