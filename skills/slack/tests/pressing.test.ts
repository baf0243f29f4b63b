import { expect, test } from 'vitest';
import type { Choice, ChoiceOutcome } from '../../../src/channels/channel.ts';
import { ADA, connectChannel, EVE, GENERAL, startWorkspace } from './fixtures.ts';

const QUESTION = '0b0e7c0e-3a0b-4d1c-9a52-6a4a5d5e0c11';
const JID = `slack:${GENERAL}`;
const BOB = 'U0BOB';
const OPTIONS = [
  { word: 'red', label: 'red, as before' },
  { word: 'blue', label: 'blue' },
];
const NUMBERED = 'Which colour?\n\n1. red, as before\n2. blue\n\nSay a number.';

/** A channel in which Ada and Bob are heard, with a question in it. */
async function asked(outcomes: readonly ChoiceOutcome[], text = NUMBERED) {
  const slack = await startWorkspace();
  slack.addUser({ id: BOB, name: 'bob', real_name: 'Bob' });
  const { channel, host } = await connectChannel(slack, { SLACK_ALLOW_FROM: `${ADA},${BOB}` });
  const pressed: Choice[] = [];
  const left = [...outcomes];
  const onChoice = async (choice: Choice): Promise<ChoiceOutcome> => {
    const outcome = left.shift();
    if (outcome === undefined) throw new Error('disk full');
    pressed.push(choice);
    return outcome;
  };
  Object.assign(host, { onChoice });
  const choices = { question: QUESTION, text: 'Which colour?', options: OPTIONS };
  await channel.send({ id: 'm1', jid: JID, text, choices });
  const [question] = slack.withBlocks;
  if (question === undefined) throw new Error('no buttons came');
  return {
    slack,
    question,
    pressed,
    left,
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await slack.goDown();
    },
  };
}

test('a question has buttons below its text, and a press is the choice of who pressed', async () => {
  await using workspace = await asked(['not-asked', 'noted', 'closed']);
  const { slack, question, pressed } = workspace;
  const [section, actions] = question.blocks;
  expect(section?.text?.text).toContain('Which colour?\n\n1. red, as before');
  expect(actions?.elements?.map(({ text }) => text.text)).toEqual(['red, as before', 'blue']);
  const before = { ...question };
  slack.press(BOB, question, 'blue');
  await slack.until(() => slack.whispered.length === 1);
  expect(question.blocks).toEqual(before.blocks);
  slack.press(ADA, question, 'blue');
  await slack.until(() => question.blocks.length === 1);
  expect(question.blocks).toEqual([section]);
  // As from an app that has not heard of the end.
  slack.press(ADA, before, 'red, as before');
  await slack.until(() => slack.whispered.length === 2);
  const press = { jid: JID, isOwner: false, question: QUESTION };
  expect(pressed).toEqual([
    { ...press, sender: BOB, word: '2' },
    { ...press, sender: ADA, word: '2' },
    { ...press, sender: ADA, word: '1' },
  ]);
  expect(slack.whispered).toEqual([
    { channel: GENERAL, user: BOB, text: 'This question is for another person.' },
    { channel: GENERAL, user: ADA, text: 'This question is not open any more.' },
  ]);
  await slack.until(() => slack.pending.length === 0);
});

test('a text that is too long for buttons below it has them in a message of their own', async () => {
  await using workspace = await asked([], `${'The wall is dry. '.repeat(200)}${NUMBERED}`);
  const { slack, question } = workspace;
  expect(slack.posted).toHaveLength(2);
  expect(question).toMatchObject({ text: 'Choose here:', blocks: [{ type: 'actions' }] });
});

test('a press of a stranger is nobody’s, and one that was not stored is not acknowledged', async () => {
  await using workspace = await asked([]);
  const { slack, question, pressed, left } = workspace;
  slack.press(EVE, question, 'blue');
  slack.press(ADA, question, 'blue');
  await slack.until(() => slack.pending.length === 1);
  expect(pressed).toEqual([]);
  left.push('noted');
  slack.repeat();
  await slack.until(() => slack.pending.length === 0);
  expect(pressed).toMatchObject([{ sender: ADA }]);
});
