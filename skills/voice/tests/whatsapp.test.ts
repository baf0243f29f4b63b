import { expect, test, vi } from 'vitest';
import { channel, WhatsAppChannel } from '../../../src/channels/whatsapp.ts';
import { CLOCK, endpointOf } from '../../../src/testing/whatsapp/linked-channel.ts';
import { linkToAnna, unlink } from '../../../src/testing/whatsapp/linked-to-anna.ts';
import { openMedia } from '../../../src/testing/whatsapp/media.ts';
import { clip, KEY, openSpokenAnswers, setSpoken, startVoiceServer } from './fixtures.ts';

const log = { info() {}, warn() {} };

test('on WhatsApp an answer is a voice note below its text, once, and a line where it cannot be spoken', async () => {
  await using voices = await startVoiceServer();
  const { server, linked, anna } = await linkToAnna({ isConnected: false });
  const { dataDir } = linked;
  const env = { VOICE_URL: voices.url, VOICE_KEY: KEY };
  const spoken = openSpokenAnswers(env, { dataDir, log, clock: CLOCK });
  const settings = { assistantName: 'Andy', dataDir, owner: null, spoken };
  const connect = async () => {
    linked.channel = new WhatsAppChannel({ settings, log, clock: CLOCK }, endpointOf(server));
    await linked.connect();
  };
  await connect();
  setSpoken(dataDir, { jid: anna.pn, folder: 'anna' }, true);
  const send = (id: string, over = {}) =>
    linked.channel.send({ id, jid: anna.pn, text: 'It is fine.', isAgents: true, ...over });
  await send('a1');
  await send('a1');
  expect(await anna.next()).toMatchObject({ text: 'It is fine.' });
  const { audioMessage } = (await anna.next()).message;
  expect(audioMessage).toMatchObject({ ptt: true, seconds: 2, mimetype: 'audio/ogg; codecs=opus' });
  expect(audioMessage?.waveform).toHaveLength(64);
  expect(await openMedia(server.filesUrl, audioMessage ?? {}, 'audio')).toEqual(clip());
  await send('a2', { isAgents: undefined });
  voices.faults.push({ status: 401 });
  await send('a3');
  const texts = [await anna.next(), await anna.next(), await anna.next()].map(({ text }) => text);
  expect(texts).toEqual(['It is fine.', 'It is fine.', expect.stringMatching(/^\(Not spoken: /)]);
  expect(voices.heard).toHaveLength(2);

  // Stopped while an answer is being spoken: the next process goes on after its text.
  voices.faults.push({ status: 200, isSilent: true });
  const stopped = send('a4').catch(String);
  expect(await anna.next()).toMatchObject({ text: 'It is fine.' });
  await vi.waitFor(() => expect(voices.heard).toHaveLength(3));
  await linked.channel.disconnect();
  expect(await stopped).toContain('stopped');
  await connect();
  await send('a4');
  expect((await anna.next()).message.audioMessage?.ptt).toBe(true);
  await unlink({ server, linked });
});

test('a wrong setting of the voice leaves WhatsApp as it is', () => {
  const context = {
    assistantName: 'Andy',
    dataDir: '/nowhere/data',
    log,
    ownerConsole: null,
    openDatabase: () => ({}) as never,
    clock: CLOCK,
  };
  const opened = channel.open({ VOICE_URL: 'nonsense', VOICE_NOTE_SECONDS: 'x' }, context);
  expect(opened).toMatchObject({ kind: 'made', value: { name: 'whatsapp' } });
});
