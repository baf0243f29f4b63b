import { expect, test } from 'vitest';
import { clip } from '../../../src/lib/voice/clip.ts';
import {
  connectChannel,
  GENERAL,
  startServer,
  stoppedClock,
} from '../../discord/tests/fixtures.ts';
import { KEY, setSpoken, startVoiceServer, temporaryFolder } from '../../voice/tests/fixtures.ts';

const JID = `discord:${GENERAL}`;
const PATH = new RegExp(`^/channels/${GENERAL}/messages$`);

test('on Discord an answer is a voice message below its text, once, and a line where it cannot be', async () => {
  await using discord = await startServer();
  await using voices = await startVoiceServer();
  using folder = temporaryFolder();
  const env = { VOICE_URL: voices.url, VOICE_KEY: KEY };
  const given = { env, clock: stoppedClock(), dataDir: folder.dir };
  await using connected = await connectChannel(discord, given);
  setSpoken(folder.dir, { jid: JID, folder: 'general' }, true);
  const send = (id: string, over = {}) =>
    connected.channel.send({ id, jid: JID, text: 'It is **fine**.', isAgents: true, ...over });
  const posts = () =>
    discord.calls.filter(({ method, path }) => method === 'POST' && PATH.test(path));
  await send('a1');
  const voice = posts()[1]?.body;
  expect(voice).toMatchObject({
    flags: 1 << 13,
    attachments: [{ id: '0', filename: 'voice-message.ogg' }],
    nonce: expect.any(String),
    enforce_nonce: true,
  });
  const [described] = (voice?.['attachments'] ?? []) as {
    duration_secs: number;
    waveform: string;
  }[];
  expect(described?.duration_secs).toBeGreaterThan(1.5);
  expect(Buffer.from(described?.waveform ?? '', 'base64')).toHaveLength(64);
  expect(discord.posted.map(({ content }) => content)).toEqual(['It is **fine**.', '']);
  expect(discord.posted[1]?.files).toMatchObject([{ name: 'voice-message.ogg', bytes: clip() }]);
  await send('a2', { isAgents: undefined });
  expect(posts()).toHaveLength(3);
  // The server may lack the permission for them.
  discord.failNext('POST', PATH, { status: 403, body: { code: 50013, message: 'Missing' } }, 1);
  await send('a3');
  voices.faults.push({ status: 401 });
  await send('a4');
  expect(discord.posted.slice(3).map(({ content }) => content)).toEqual([
    'It is **fine**.',
    '(Not spoken: give the bot the permission Send Voice Messages here.)',
    'It is **fine**.',
    expect.stringMatching(/^\(Not spoken: .*refuses the key/),
  ]);
});
