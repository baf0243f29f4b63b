import { channel } from '../../../src/channels/discord.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import type { FarEnd, Place, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { DISCORD_CONTENT, sendDiscordContent } from './content.ts';
import type { DiscordServer } from './discord-server.ts';
import {
  ADA,
  ADA_DIRECT,
  EVE,
  EVE_DIRECT,
  GENERAL,
  settingsOf,
  startServer,
  TOKEN,
} from './fixtures.ts';

const WRONG = 'a.wrong.token';
const POSTS = /^\/channels\/\d+\/messages$/;

testChannel({
  name: 'discord',
  limit: 2_000,
  notation: NOTATIONS.markdown,
  tokenSetting: 'DISCORD_BOT_TOKEN',
  lacks: {
    acknowledged:
      'Discord has no acknowledgements; a connection resumes after the last stored message (connection.test.ts)',
  },
  content: DISCORD_CONTENT,
  start: async () => farEndOf(await startServer()),
});

function farEndOf(discord: DiscordServer): FarEnd {
  let last = '';
  // Discord keeps nothing for a bot that was never there: a person writes once it is shown as online.
  let cameUp = false;
  const say = (text: string, more = {}) => {
    last = discord.say(ADA, ADA_DIRECT, text, more);
  };
  const lastOne = () => ({ id: last, channel_id: ADA_DIRECT });
  return {
    create: (context, variation) => channelFrom(channel, settings(discord, variation), context),
    friendTyped: [ADA.id, `<@${ADA.id}>`],
    jidOf: (place) => `discord:${channelOf(place)}`,
    async sendText(from, place, text) {
      if (cameUp) await discord.until(() => discord.hasSession);
      if (from === 'friend' && place === 'direct') say(text);
      else if (from === 'friend') discord.say(ADA, GENERAL, text);
      else discord.say(EVE, place === 'group' ? GENERAL : EVE_DIRECT, text);
    },
    sent: () =>
      discord.posted.map(({ channel: id, content }) => ({
        place: id === GENERAL ? 'group' : 'direct',
        text: content,
      })),
    secrets: [TOKEN, WRONG],
    goDown: () => discord.goDown(),
    comeUp() {
      cameUp = true;
      return discord.comeUp();
    },
    revoke: () => discord.revoke(),
    limitNext: (seconds, later = 0) => discord.failNext('POST', POSTS, limited(seconds), later),
    loseNext: () => discord.failNext('POST', POSTS, null),
    sendHalf() {
      discord.sendRaw(Buffer.from([0x81, 0x7e, 0x10, 0x00, 0x7b]));
      discord.cutLine();
    },
    sendInvalid: () => discord.sendBytes(Buffer.from('{"op":0,"t":"\xff\xfe"}', 'latin1')),
    sendFile: (name, size) =>
      say('', { attachments: [{ ...discord.addFile(name, Buffer.alloc(1)), size }] }),
    edit: (text) =>
      discord.push('MESSAGE_UPDATE', {
        ...lastOne(),
        author: ADA,
        content: text,
        edited_timestamp: '2023-11-14T22:14:00.000Z',
      }),
    remove() {
      discord.deleteMessage(last);
      discord.push('MESSAGE_DELETE', lastOne());
    },
    forward: (text) =>
      say('', {
        message_reference: { type: 1, message_id: '1', channel_id: '2' },
        message_snapshots: [{ message: { type: 0, content: text, attachments: [], embeds: [] } }],
      }),
    sendContent: (kind, connected) => sendDiscordContent(discord, kind, connected),
    close: (place) => discord.removeChannel(channelOf(place)),
    [Symbol.asyncDispose]: () => discord.goDown(),
  };
}

function settings(discord: DiscordServer, variation: Variation): Record<string, string> {
  const all = settingsOf(discord);
  if (variation === 'nobody allowed') return { ...all, DISCORD_ALLOW_FROM: '' };
  return variation === 'wrong token' ? { ...all, DISCORD_BOT_TOKEN: WRONG } : all;
}

const channelOf = (place: Place): string => (place === 'direct' ? ADA_DIRECT : GENERAL);

function limited(seconds: number | null) {
  return {
    status: 429,
    body: { message: 'You are being rate limited.', retry_after: seconds ?? 0, global: false },
    headers: seconds === null ? {} : { 'retry-after': String(seconds) },
  };
}
