import { expect, test } from 'vitest';
import type { Choice, ChoiceOutcome } from '../../../src/channels/channel.ts';
import { startBotApi } from './bot-api.ts';
import { ADA, connectChannel, EVE, FAMILY, TOKEN } from './fixtures.ts';

const QUESTION = '0b0e7c0e-3a0b-4d1c-9a52-6a4a5d5e0c11';
const JID = 'telegram:-1001234';
const OPTIONS = [
  { word: 'red', label: 'red, as before' },
  { word: 'blue', label: 'blue' },
];
const BOB = { id: 1002, first_name: 'Bob' };

/** A group in which Ada and Bob are heard, with a question in it. */
async function asked(outcomes: readonly ChoiceOutcome[]) {
  const api = await startBotApi({ token: TOKEN });
  const env = { TELEGRAM_ALLOW_FROM: `${ADA.id},${BOB.id}` };
  const { channel, host } = await connectChannel(api, env);
  const pressed: Choice[] = [];
  const left = [...outcomes];
  const onChoice = async (choice: Choice): Promise<ChoiceOutcome> => {
    const outcome = left.shift();
    if (outcome === undefined) throw new Error('disk full');
    pressed.push(choice);
    return outcome;
  };
  Object.assign(host, { onChoice });
  api.sendText(ADA, FAMILY, 'hello');
  await api.until(() => host.messages.length === 1);
  const text = `${'The wall is dry. '.repeat(300)}\n\nWhich colour?`;
  const choices = { question: QUESTION, text, options: OPTIONS };
  await channel.send({ id: 'm1', jid: JID, text, choices });
  return {
    api,
    pressed,
    left,
    question: api.sent.at(-1) ?? Promise.reject(new Error('nothing was sent')),
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await api.goDown();
    },
  };
}

test('a question has buttons below its last part, and a press is the choice of who pressed', async () => {
  await using far = await asked(['not-asked', 'noted', 'closed']);
  const { api, pressed } = far;
  const question = await far.question;
  expect(api.sent.map(({ buttons }) => buttons.length)).toEqual([0, 2]);
  expect(question.buttons.map(({ text }) => text)).toEqual(['red, as before', 'blue']);
  const { buttons } = question;
  api.press(BOB, question, 'blue');
  await api.until(() => api.told.length === 1);
  expect(question.buttons).toEqual(buttons);
  api.press(ADA, question, 'blue');
  await api.until(() => api.told.length === 2);
  await api.until(() => question.buttons.length === 0);
  // As from an app that has not heard of the end.
  api.press(ADA, { ...question, buttons }, 'red, as before');
  await api.until(() => api.told.length === 3);
  const press = { jid: JID, isOwner: false, question: QUESTION };
  expect(pressed).toEqual([
    { ...press, sender: '1002', word: '2' },
    { ...press, sender: '10011', word: '2' },
    { ...press, sender: '10011', word: '1' },
  ]);
  expect(api.told).toEqual([
    'This question is for another person.',
    null,
    'This question is not open any more.',
  ]);
});

test('a press of a stranger is nobody’s, and one that was not stored comes again', async () => {
  await using far = await asked([]);
  const { api, pressed, left } = far;
  const question = await far.question;
  api.press(EVE, question, 'blue');
  api.press(ADA, question, 'blue');
  const polls = () => api.calls.filter(({ method }) => method === 'getUpdates').length;
  const before = polls();
  await api.until(() => polls() > before + 1);
  expect(pressed).toEqual([]);
  left.push('noted');
  await api.until(() => api.told.length === 1);
  expect(pressed).toMatchObject([{ sender: '10011' }]);
});
