import type { Channel } from '../../../src/channels/channel.ts';
import type { ContentCells, ContentKind } from '../../../src/testing/channel/content-kinds.ts';
import type { DiscordServer } from './discord-server.ts';
import { ADA, ADA_DIRECT, EVE, THREAD } from './fixtures.ts';

const IMAGE = '[image "cat.png", 1 kB, id ID]';
const NO_SUCH = 'Discord has no such messages';

/** What the agent sees of each kind of content on Discord. */
export const DISCORD_CONTENT: ContentCells = {
  links: { sees: ['read [this page](https://example.org/a)'] },
  reply: { sees: ['yes\n[in answer to eve: "a cake for all"]'] },
  'reply to us': {
    sees: ['do the second one\n[in answer to Andy: "1. call Bob 2. pay rent"]'],
  },
  'reply to picture': { sees: ['nice\n[in answer to eve: image, id ID]'] },
  'partial quote': { none: 'a reply on Discord is to a whole message' },
  forward: {
    sees: [
      "[forwarded: somebody else's words, not the sender's]\n> see the plan\n> [Alert](https://example.org/alert)\n> Server 3 is down\n> Since: nine",
    ],
  },
  'forwarded file': {
    sees: [
      `[forwarded: somebody else's words, not the sender's]\n[image "cat.png", 1 kB, id ID, forwarded]`,
    ],
  },
  edit: { sees: ['at noon', '[corrected: an earlier message "at noon" now says "at one"]'] },
  deletion: { sees: ['forget it', '[deleted: an earlier message "forget it"]'] },
  album: { sees: [IMAGE, IMAGE, `compare these\n${IMAGE}`] },
  picture: { sees: [`my cat\n${IMAGE}`] },
  video: { sees: ['[video "a.mp4", 1 kB, id ID]'] },
  voice: { sees: ['[voice "voice-message.ogg", 4 s, 1 kB, id ID]'] },
  document: { sees: ['[document "plan.pdf", 1 kB, id ID]'] },
  sticker: { sees: ['[sticker Wave]'] },
  place: { none: 'Discord shares no places' },
  contact: { none: 'Discord shares no contacts' },
  poll: { sees: ['[poll "Tea?": yes / no]'] },
  'poll result': { sees: ['[closed poll "Tea?": yes (3 votes) / all options (4 votes)]'] },
  checklist: { none: NO_SUCH },
  event: { none: 'events of a server are not messages' },
  invitation: { none: 'an invitation is a link in a text' },
  business: { none: 'other bots are ignored' },
  button: { none: 'other bots are ignored' },
  paid: { none: NO_SUCH },
  'view once': { none: NO_SUCH },
  topic: { sees: ['(thread plans) by boat'] },
  migrated: { none: 'a channel keeps its id' },
  'topic deleted': { none: 'a deleted thread refuses the answer, as a deleted channel does' },
  upgraded: { none: 'a channel keeps its id' },
  left: { sees: ['[in this chat: Ada left]'] },
  unknown: { sees: ['[a kind of message that cannot be shown here: type 99]'] },
};

/** Does at Discord what a cell is about. */
export async function sendDiscordContent(
  discord: DiscordServer,
  kind: ContentKind,
  channel: Channel,
): Promise<void> {
  const say = (text: string, more: Readonly<Record<string, unknown>> = {}) =>
    discord.say(ADA, ADA_DIRECT, text, more);
  const file = (name: string, type: string, more: Readonly<Record<string, unknown>> = {}) =>
    discord.addFile(name, Buffer.from('abc'), { content_type: type, ...more });
  const cat = () => file('cat.png', 'image/png');
  const forward = (message: Readonly<Record<string, unknown>>) =>
    say('', {
      message_reference: { type: 1, message_id: '1', channel_id: '2' },
      message_snapshots: [{ message: { type: 0, content: '', attachments: [], ...message } }],
    });
  const reply = (text: string, referenced: Readonly<Record<string, unknown>>) =>
    say(text, {
      type: 19,
      message_reference: { type: 0, message_id: referenced['id'], channel_id: ADA_DIRECT },
      referenced_message: { type: 0, attachments: [], embeds: [], ...referenced },
    });
  switch (kind) {
    case 'links':
      return void say('read [this page](https://example.org/a)', {
        embeds: [{ type: 'link', title: 'This page', url: 'https://example.org/a' }],
      });
    case 'reply':
      return void reply('yes', { id: '2', author: EVE, content: 'a [cake]\nfor all' });
    case 'reply to us': {
      const text = '1. call Bob\n2. pay rent';
      await channel.send({ id: 'task-1', jid: `discord:${ADA_DIRECT}`, text });
      const [posted] = discord.posted;
      return void reply('do the second one', {
        id: posted?.id,
        author: discord.bot,
        content: posted?.content,
      });
    }
    case 'reply to picture':
      return void reply('nice', { id: '2', author: EVE, content: '', attachments: [cat()] });
    case 'forward':
      return void forward({
        content: 'see the plan',
        embeds: [
          {
            type: 'rich',
            title: 'Alert',
            url: 'https://example.org/alert',
            description: 'Server 3 is down',
            fields: [{ name: 'Since', value: 'nine', inline: true }],
          },
        ],
      });
    case 'forwarded file':
      return void forward({ attachments: [cat()] });
    case 'edit': {
      const id = say('at noon');
      const edited_timestamp = '2023-11-14T22:14:00.000Z';
      const edited = { id, channel_id: ADA_DIRECT, author: ADA, content: 'at one' };
      return discord.push('MESSAGE_UPDATE', { ...edited, edited_timestamp });
    }
    case 'deletion':
      return discord.push('MESSAGE_DELETE', { id: say('forget it'), channel_id: ADA_DIRECT });
    case 'album':
      return void say('compare these', { attachments: [cat(), cat(), cat()] });
    case 'picture':
      return void say('my cat', { attachments: [cat()] });
    case 'video':
      return void say('', { attachments: [file('a.mp4', 'video/mp4')] });
    case 'voice':
      return void say('', {
        flags: 8192,
        attachments: [file('voice-message.ogg', 'audio/ogg', { duration_secs: 4, waveform: 'AA' })],
      });
    case 'document':
      return void say('', { attachments: [file('plan.pdf', 'application/pdf')] });
    case 'sticker':
      return void say('', { sticker_items: [{ id: '1', name: 'Wave', format_type: 1 }] });
    case 'poll': {
      const answers = ['yes', 'no'].map((text, at) => ({
        answer_id: at + 1,
        poll_media: { text },
      }));
      return void say('', { poll: { question: { text: 'Tea?' }, answers } });
    }
    case 'poll result': {
      const values = {
        poll_question_text: 'Tea?',
        victor_answer_id: '1',
        victor_answer_text: 'yes',
        victor_answer_votes: '3',
        total_votes: '4',
      };
      const fields = Object.entries(values).map(([name, value]) => ({
        name,
        value,
        inline: false,
      }));
      return void say('', { type: 46, embeds: [{ type: 'poll_result', fields }] });
    }
    case 'topic':
      return void discord.say(ADA, THREAD, 'by boat');
    case 'left':
      return void say('', { type: 2, mentions: [ADA] });
    case 'unknown':
      return void say('', { type: 99 });
    default:
      throw new Error(`Discord has no ${kind}.`);
  }
}
