import { expect, test } from 'vitest';
import { clip } from '../../../src/lib/voice/clip.ts';
import { startBotApi } from '../../telegram/tests/bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  inMemory,
  stoppedClock,
  TOKEN,
} from '../../telegram/tests/fixtures.ts';
import { KEY, setSpoken, startVoiceServer, temporaryFolder } from '../../voice/tests/fixtures.ts';

const JID = 'telegram:10011';
const SETTINGS = { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_ALLOW_FROM: String(ADA.id) };

test('on Telegram an answer is a voice message below its text, once, and a line where it cannot be', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using voices = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: voices.url, VOICE_KEY: KEY };
  await using connected = await connectChannel(api, env, stoppedClock(), inMemory(), folder.dir);
  const { channel } = connected;
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => connected.host.messages.length === 1);
  setSpoken(folder.dir, { jid: JID, folder: 'ada' }, true);
  const send = (id: string, over = {}) =>
    channel.send({ id, jid: JID, text: 'It is **fine**.', isAgents: true, ...over });
  // Telegram takes the text, and the voice at the second attempt: neither is there twice.
  api.failNext('sendVoice', { error_code: 500, description: 'Internal Server Error' });
  await expect(send('a1', { thread: '7' })).rejects.toThrow();
  await send('a1', { thread: '7' });
  expect(api.sent.map(({ text, file }) => file?.name ?? text)).toEqual([
    'It is fine.',
    'voice.ogg',
  ]);
  expect(api.sent[1]).toMatchObject({ thread: 7, file: { text: expect.stringMatching(/^OggS/) } });
  const { payload } = api.calls.filter(({ method }) => method === 'sendVoice').at(-1) ?? {};
  expect(payload).toMatchObject({ duration: '2' });
  expect(voices.heard.map(({ fields }) => fields['input'])).toEqual(['It is fine.']);
  expect(voices.own.speech).toEqual(clip());
  await send('a2', { isAgents: undefined });
  // A person may let no voice messages in.
  const description = 'Bad Request: VOICE_MESSAGES_FORBIDDEN';
  api.failNext('sendVoice', { error_code: 400, description });
  await send('a3');
  voices.faults.push({ status: 401 });
  await send('a4');
  expect(api.sent.slice(2).map(({ text }) => text)).toEqual([
    'It is fine.',
    'It is fine.',
    '(Not spoken: Telegram lets no voice note in here.)',
    'It is fine.',
    expect.stringMatching(/^\(Not spoken: .*refuses the key/),
  ]);
});

test('killed while an answer is being spoken, the next process does not write it again, and speaks it', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using voices = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: voices.url, VOICE_KEY: KEY };
  const disk = inMemory();
  setSpoken(folder.dir, { jid: JID, folder: 'ada' }, true);
  const message = { id: 'a1', jid: JID, text: 'It is fine.', isAgents: true } as const;
  await using dying = await connectChannel(api, env, stoppedClock(), disk, folder.dir);
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => dying.host.messages.length === 1);
  voices.faults.push({ status: 200, isSilent: true });
  const lost = dying.channel.send(message).catch(String);
  await api.until(() => voices.heard.length === 1);
  const next = createChannel(
    { ...SETTINGS, TELEGRAM_API_ROOT: api.url, ...env },
    dying.host,
    stoppedClock(),
    disk,
    folder.dir,
  );
  await next?.connect(dying.host);
  await next?.send(message);
  expect(api.sent.map(({ text, file }) => file?.name ?? text)).toEqual([
    'It is fine.',
    'voice.ogg',
  ]);
  await next?.disconnect();
  voices.cut();
  await lost;
});
