import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import { startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  FAMILY,
  HostEnd,
  inMemory,
  REAL_CLOCK,
  TOKEN,
} from './fixtures.ts';

const BOB = { id: 1002, first_name: 'Bob' };

test('the owner writes without being on the list, in their own chat and in groups; others are not the owner', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { TELEGRAM_OWNER: String(ADA.id), TELEGRAM_ALLOW_FROM: String(BOB.id) };
  await using connected = await connectChannel(api, env);
  const { host } = connected;
  api.sendText(EVE, EVE_DIRECT, 'let me in');
  api.sendText(BOB, { id: BOB.id, type: 'private' }, 'hello');
  api.sendText(ADA, ADA_DIRECT, 'hello');
  api.sendText(ADA, FAMILY, 'hello');
  api.sendText(BOB, FAMILY, 'hello');
  await api.until(() => host.messages.length === 4);
  expect(host.messages.map(({ sender, isOwner }) => [sender, isOwner])).toEqual([
    ['1002', false],
    ['10011', true],
    ['10011', true],
    ['1002', false],
  ]);
  expect(host.chats.map(({ jid, isOwners }) => [jid, isOwners])).toEqual([
    ['telegram:1002', undefined],
    ['telegram:10011', true],
    ['telegram:-1001234', undefined],
  ]);
  expect(host.strangers).toEqual(['6666']);
});

test('a list that is empty is enough where there is an owner; an id that is none is refused', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { TELEGRAM_OWNER: String(ADA.id), TELEGRAM_ALLOW_FROM: '' };
  await using connected = await connectChannel(api, env);
  expect(connected.channel.status().state).toBe('connected');
  const wrong = { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_OWNER: '@ada' };
  expect(() => createChannel(wrong, new HostEnd())).toThrow('a user id, which is a number');
});

test('the owner’s chat has the commands of the terminal, is asked, and answers by a button', async () => {
  await using api = await startBotApi({ token: TOKEN });
  using project = new TestProject();
  const env = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_OWNER: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
  };
  const dataDir = join(project.dir, 'data');
  const telegram = createChannel(env, new HostEnd(), REAL_CLOCK, inMemory(), dataDir);
  if (telegram === null) throw new Error('the channel stayed silent');
  const words: string[] = [];
  const agent: AgentScript = async ({ folder, prompt }, { onAsk }) => {
    expect(folder).toBe('main');
    if (!prompt.endsWith('go')) return answers('pong');
    const choices = [
      { word: 'yes', label: 'Yes' },
      { word: 'no', label: 'No' },
    ];
    const reply = await onAsk?.({ text: 'Really?', choices });
    words.push(reply?.word ?? 'none');
    return answers('done');
  };
  const assistant = await project.start({ agent, over: { channels: [telegram] } });
  api.sendText(ADA, ADA_DIRECT, '/status');
  await api.until(() => api.sent.some(({ text }) => text.includes('channel telegram: connected')));
  api.sendText(ADA, ADA_DIRECT, 'go');
  await api.until(() => api.sent.some(({ buttons }) => buttons.length > 0));
  const question = api.sent.find(({ buttons }) => buttons.length > 0);
  if (question === undefined) throw new Error('there is no question');
  expect(question.text).toContain('Really?');
  api.press(ADA, question, question.buttons[0]?.text ?? '');
  await api.until(() => api.sent.at(-1)?.text === 'done');
  expect(words).toEqual(['yes']);
  await assistant.stop();
});
