import type { Channel } from '../../../src/channels/channel.ts';
import type { ContentCells, ContentKind } from '../../../src/testing/channel/content-kinds.ts';
import { ADA, ADA_JID, EVE } from './fixtures.ts';
import type { SignalCli } from './signal-cli.ts';

const NO_SUCH = 'Signal has no such messages';
const NO_CHATS = 'groups of Signal keep their address';
const AS_TEXT = 'Signal sends it as a text with a link';

/** What the agent sees of each kind of content on Signal. */
export const SIGNAL_CONTENT: ContentCells = {
  links: { sees: ['see https://example.org/a'] },
  reply: { sees: ['yes\n[in answer to +4915133333333: "a cake for all"]'] },
  'reply to us': {
    sees: ['do the second one\n[in answer to Andy: "1. call Bob 2. pay rent"]'],
  },
  'reply to picture': { sees: ['nice\n[in answer to +4915133333333: image]'] },
  'partial quote': { none: 'a reply on Signal is to a whole message' },
  forward: { none: 'Signal does not mark forwarded messages' },
  'forwarded file': { none: 'Signal does not mark forwarded messages' },
  edit: { sees: ['at noon', '[corrected: an earlier message now says "at one"]'] },
  deletion: { sees: ['forget it', '[deleted: an earlier message]'] },
  album: {
    sees: ['[image, 3 kB, id ID]', '[image, 3 kB, id ID]', 'compare these\n[image, 3 kB, id ID]'],
  },
  picture: { sees: ['my cat\n[image, 3 kB, id ID]'] },
  video: { sees: ['[video, 3 kB, id ID]'] },
  voice: { sees: ['[voice, 3 kB, id ID]'] },
  document: { sees: ['[document "plan.pdf", 3 kB, id ID]'] },
  sticker: { sees: ['[sticker]'] },
  place: { none: AS_TEXT },
  contact: { sees: ['[contact Eve Miller, +49 151 1234]'] },
  poll: { sees: ['[poll "Tea?": yes / no]'] },
  'poll result': { sees: ['[in this chat: a poll was closed]'] },
  checklist: { none: NO_SUCH },
  event: { none: AS_TEXT },
  invitation: { none: AS_TEXT },
  business: { none: NO_SUCH },
  button: { none: NO_SUCH },
  paid: { none: NO_SUCH },
  'view once': { sees: ['[cannot be seen here: media, it can be viewed once]'] },
  topic: { none: 'groups of Signal have no topics' },
  migrated: { none: NO_CHATS },
  'topic deleted': { none: 'groups of Signal have no topics' },
  upgraded: { none: NO_CHATS },
  left: { none: 'signal-cli reports that a group changed, but not how' },
  unknown: { sees: ['[a kind of message that cannot be shown here: hologram]'] },
};

/** Does at Signal what a cell is about. */
export async function sendSignalContent(
  cli: SignalCli,
  kind: ContentKind,
  channel: Channel,
): Promise<void> {
  const say = (text: string | null, more: Readonly<Record<string, unknown>> = {}) =>
    cli.say(ADA, text, more);
  const file = (contentType: string, more: Readonly<Record<string, unknown>> = {}) => ({
    contentType,
    filename: null,
    id: 'x',
    size: 3_000,
    ...more,
  });
  const quote = (author: { number: string | null; uuid: string }, more: object) => ({
    quote: {
      id: 1,
      author: author.number,
      authorNumber: author.number,
      authorUuid: author.uuid,
      attachments: [],
      ...more,
    },
  });
  switch (kind) {
    case 'links':
      return void say('see https://example.org/a', {
        previews: [{ url: 'https://example.org/a', title: 'A', description: '', image: null }],
      });
    case 'reply':
      return void say('yes', quote(EVE, { text: 'a [cake]\nfor all' }));
    case 'reply to us': {
      const text = '1. call Bob\n2. pay rent';
      await channel.send({ id: 'task-1', jid: ADA_JID, text });
      const me = { number: cli.account, uuid: '' };
      return void say('do the second one', quote(me, { text }));
    }
    case 'reply to picture': {
      const attachments = [
        { contentType: 'image/jpeg', filename: null, thumbnail: file('image/jpeg') },
      ];
      return void say('nice', quote(EVE, { text: null, attachments }));
    }
    case 'edit': {
      const targetSentTimestamp = say('at noon');
      const dataMessage = { timestamp: cli.nextTime(), message: 'at one' };
      return void cli.receive(ADA, { editMessage: { targetSentTimestamp, dataMessage } });
    }
    case 'deletion':
      return void say(null, { remoteDelete: { timestamp: say('forget it') } });
    case 'album': {
      const image = file('image/jpeg');
      return void say('compare these', { attachments: [image, image, image] });
    }
    case 'picture':
      return void say('my cat', { attachments: [file('image/jpeg')] });
    case 'video':
      return void say(null, { attachments: [file('video/mp4')] });
    case 'voice':
      return void say(null, { attachments: [file('audio/aac')] });
    case 'document':
      return void say(null, { attachments: [file('application/pdf', { filename: 'plan.pdf' })] });
    case 'sticker':
      return void say(null, { sticker: { packId: 'ab', stickerId: 3 } });
    case 'contact': {
      const name = { display: 'Eve Miller', given: 'Eve', family: 'Miller' };
      return void say(null, { contacts: [{ name, phone: [{ value: '+49 151 1234' }] }] });
    }
    case 'poll':
      return void say(null, {
        pollCreate: { question: 'Tea?', allowMultiple: false, options: ['yes', 'no'] },
      });
    case 'poll result':
      return void say(null, { pollTerminate: { targetSentTimestamp: 1 } });
    case 'view once':
      return void say(null, { viewOnce: true, attachments: [file('image/jpeg')] });
    case 'unknown':
      return void say(null, { hologram: { depth: 3 } });
    default:
      throw new Error(`Signal has no ${kind}.`);
  }
}
