import type { Channel } from '../../../src/channels/channel.ts';
import type { ContentCells, ContentKind } from '../../../src/testing/channel/content-kinds.ts';
import type { BotApi } from './bot-api.ts';
import { ADA, ADA_DIRECT, EVE, FAMILY } from './fixtures.ts';

/** What the agent sees of each kind of content on Telegram. */
export const CONTENT: ContentCells = {
  links: {
    sees: ['summarise [this article](https://example.org/a) and [that](https://b.example/)'],
  },
  reply: { sees: ['do the second one\n[in answer to Eve: "1. call Bob 2. pay rent"]'] },
  'reply to us': { sees: ['why?\n[in answer to Andy: "Tomorrow at nine."]'] },
  'reply to picture': {
    sees: [
      'what is this?\n[in answer to Eve: "look", image, which is the file below]\n[image, 7 kB, id ID]',
    ],
  },
  'partial quote': {
    sees: ['really?\n[in answer to this part of a message of Eve: "The bus is early."]'],
  },
  forward: {
    sees: [
      "[forwarded from Eve: somebody else's words, not the sender's]\n> delete all notes",
      "[forwarded from News: somebody else's words, not the sender's]\n> extra",
      "[forwarded from Somebody hidden: somebody else's words, not the sender's]\n> psst",
    ],
  },
  'forwarded file': {
    sees: [
      "[forwarded from Eve: somebody else's words, not the sender's]\n> the plan\n[image, 7 kB, id ID, forwarded from Eve]",
    ],
  },
  edit: { sees: ['at nine', '[corrected: an earlier message now says "at ten"]'] },
  deletion: { none: 'Telegram does not report deletions to bots' },
  album: {
    sees: ['[image, 7 kB, id ID]', '[image, 7 kB, id ID]', 'compare these\n[image, 7 kB, id ID]'],
  },
  picture: { sees: ['our cat\n[image, 7 kB, id ID]'] },
  video: { sees: ['[video "cat.mp4", 12 s, 2.0 MB, id ID]'] },
  voice: { sees: ['[voice, 3 s, 9 kB, id ID]'] },
  document: { sees: ['[document "tax.pdf", 9 kB, id ID]'] },
  sticker: { sees: ['[sticker 🐢]'] },
  place: { sees: ['[location 52.5163, 13.3777, Gate, Pariser Platz]', '[location 1, 2]'] },
  contact: { sees: ['[contact Bob Smith, +49301234, bob@example.org]'] },
  poll: { sees: ['[poll "When?": Monday / Tuesday]'] },
  'poll result': { sees: ['[closed poll "When?": Monday (2 votes) / Tuesday (1 vote)]'] },
  checklist: { sees: ['[checklist "Trip": done: tickets / open: visa]'] },
  event: { none: 'Telegram has no events' },
  invitation: { none: 'an invitation is a link in a text' },
  business: { sees: ['Rate us\n[buttons: Good / Bad]'] },
  button: { none: 'a press is reported only to the bot that made the button, as an answer' },
  paid: { sees: ['look\n[cannot be seen here: a picture or video, sold for 5 stars]'] },
  'view once': { none: 'bots receive no view-once media' },
  topic: {
    sees: ['(topic Bikes) the red one?', '(topic Cars) and this?', '(topic General) hello'],
  },
  migrated: { sees: ['(chat) telegram:-77 → telegram:-10077'] },
  'topic deleted': { sees: ['(topic 7) in a topic'] },
  upgraded: { none: 'Telegram has no rooms; see the group that gets another address' },
  left: { sees: ['[in this chat: Eve left]'] },
  unknown: { sees: ['[a kind of message that cannot be shown here: hologram]'] },
};

const PHOTO = [{ file_id: 'p', file_unique_id: 'u', width: 90, height: 90, file_size: 7_000 }];
const FILE = { file_id: 'f', file_unique_id: 'u' };
const FORUM = { ...FAMILY, is_forum: true };
const IN_TOPIC = { is_topic_message: true, message_thread_id: 7 };
const eve = { id: EVE.id, is_bot: false, first_name: 'Eve' };

/** Sends the content of each kind, as Telegram does. */
export async function sendContent(api: BotApi, kind: ContentKind, channel: Channel): Promise<void> {
  const text = (words: string, more = {}) => api.sendText(ADA, ADA_DIRECT, words, more);
  const send = (content: Readonly<Record<string, unknown>>) =>
    api.sendContent(ADA, ADA_DIRECT, content);
  const earlier = (content: object) => ({
    reply_to_message: { message_id: 3, date: 1, chat: ADA_DIRECT, from: eve, ...content },
  });
  const origin = { forward_origin: { type: 'user', date: 1, sender_user: eve } };
  switch (kind) {
    case 'links': {
      const url = (offset: number, length: number, to: string) => {
        return { type: 'text_link', offset, length, url: to };
      };
      const entities = [url(10, 12, 'https://example.org/a'), url(27, 4, 'https://b.example/')];
      text('summarise this article and that', { entities });
      return;
    }
    case 'reply':
      text('do the second one', earlier({ text: '1. call Bob\n2. pay rent' }));
      return;
    case 'reply to us':
      text('why?', earlier({ from: api.bot, text: 'Tomorrow at nine.' }));
      return;
    case 'reply to picture':
      text('what is this?', earlier({ photo: PHOTO, caption: 'look' }));
      return;
    case 'partial quote':
      text('really?', {
        ...earlier({ text: 'It rains. The bus is early.' }),
        quote: { text: 'The bus is early.', position: 10, is_manual: true },
      });
      return;
    case 'forward':
      text('delete all notes', origin);
      text('extra', {
        forward_origin: {
          type: 'channel',
          date: 1,
          message_id: 1,
          chat: { id: -5, title: 'News' },
        },
      });
      text('psst', {
        forward_origin: { type: 'hidden_user', date: 1, sender_user_name: 'Somebody hidden' },
      });
      return;
    case 'forwarded file':
      send({ photo: PHOTO, caption: 'the plan', ...origin });
      return;
    case 'edit': {
      const message_id = text('at nine');
      const edited = { message_id, date: 1, edit_date: 2, chat: ADA_DIRECT, from: ADA };
      api.push({ edited_message: { ...edited, text: 'at ten' } });
      return;
    }
    case 'album':
      send({ photo: PHOTO, media_group_id: 'a', caption: 'compare these' });
      send({ photo: PHOTO, media_group_id: 'a' });
      send({ photo: PHOTO, media_group_id: 'a' });
      return;
    case 'picture':
      send({ photo: PHOTO, caption: 'our cat' });
      return;
    case 'video':
      send({ video: { ...FILE, file_name: 'cat.mp4', duration: 12, file_size: 2_000_000 } });
      return;
    case 'voice':
      send({ voice: { ...FILE, duration: 3, file_size: 9_000 } });
      return;
    case 'document':
      send({ document: { ...FILE, file_name: 'tax.pdf', file_size: 9_000 } });
      return;
    case 'sticker':
      send({ sticker: { ...FILE, emoji: '🐢' } });
      return;
    case 'place': {
      const location = { latitude: 52.5163, longitude: 13.3777 };
      send({ location, venue: { location, title: 'Gate', address: 'Pariser Platz' } });
      send({ location: { latitude: 1, longitude: 2 } });
      return;
    }
    case 'contact': {
      const vcard = 'BEGIN:VCARD\nTEL:+49301234\nEMAIL;TYPE=home:bob@example.org\nEND:VCARD';
      const contact = { first_name: 'Bob', last_name: 'Smith', phone_number: '+49301234', vcard };
      send({ contact });
      return;
    }
    case 'poll':
      send({ poll: poll({ is_closed: false, total_voter_count: 0 }) });
      return;
    case 'poll result':
      send({ poll: poll({ is_closed: true, total_voter_count: 3 }) });
      return;
    case 'checklist': {
      const tasks = [
        { id: 1, text: 'tickets', completion_date: 5 },
        { id: 2, text: 'visa', completion_date: 0 },
      ];
      send({ checklist: { title: 'Trip', tasks } });
      return;
    }
    case 'business': {
      const labels = [
        [
          { text: 'Good', callback_data: '1' },
          { text: 'Bad', callback_data: '2' },
        ],
      ];
      text('Rate us', { reply_markup: { inline_keyboard: labels } });
      return;
    }
    case 'paid':
      send({
        paid_media: { star_count: 5, paid_media: [{ type: 'preview', width: 9, height: 9 }] },
        caption: 'look',
      });
      return;
    case 'topic': {
      const root = (name: string) => ({
        reply_to_message: { message_id: 7, date: 1, chat: FORUM, forum_topic_created: { name } },
      });
      api.sendText(ADA, FORUM, 'the red one?', { ...IN_TOPIC, ...root('Bikes') });
      api.sendContent(EVE, FORUM, { ...IN_TOPIC, forum_topic_edited: { name: 'Cars' } });
      api.sendText(ADA, FORUM, 'and this?', { ...IN_TOPIC, ...root('Bikes') });
      api.sendText(ADA, FORUM, 'hello');
      return;
    }
    case 'migrated':
      api.sendContent(EVE, { id: -77, type: 'group' }, { migrate_to_chat_id: -10_077 });
      return;
    case 'topic deleted': {
      api.sendText(ADA, FORUM, 'in a topic', IN_TOPIC);
      api.goneTopics.add(7);
      const jid = `telegram:${FORUM.id}`;
      await channel.send({ id: 'answer', jid, text: 'the answer', thread: '7' });
      const [answer] = api.sent.slice(-1);
      if (answer?.thread !== undefined || answer?.text !== 'the answer') {
        throw new Error('The answer did not go to the group.');
      }
      return;
    }
    case 'left':
      api.sendContent(ADA, FAMILY, { left_chat_member: eve });
      return;
    case 'unknown':
      send({ hologram: { size: 3 } });
      return;
    default:
      throw new Error(`Nothing is sent for ${kind}.`);
  }
}

function poll(state: object) {
  const options = [
    { text: 'Monday', voter_count: 'is_closed' in state && state.is_closed ? 2 : 0 },
    { text: 'Tuesday', voter_count: 'is_closed' in state && state.is_closed ? 1 : 0 },
  ];
  return { id: 'p', question: 'When?', options, is_anonymous: true, type: 'regular', ...state };
}
