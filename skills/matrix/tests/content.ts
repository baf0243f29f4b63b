import type { Channel } from '../../../src/channels/channel.ts';
import type { ContentCells, ContentKind } from '../../../src/testing/channel/content-kinds.ts';
import { ADA, ADA_DIRECT, BOT, EVE, HALL } from './fixtures.ts';
import type { MatrixServer } from './matrix-server.ts';

const NO_SUCH = 'Matrix has no such messages';
const NO_FORWARDS = 'Matrix does not mark forwarded messages';

/** What the agent sees of each kind of content on Matrix. */
export const MATRIX_CONTENT: ContentCells = {
  links: { sees: ['read [this page](https://example.org/a)'] },
  reply: { sees: ['the tram is late', 'so it is\n[in answer to Ada: "the tram is late"]'] },
  'reply to us': {
    sees: ['do the second one\n[in answer to Andy: "1. call Bob 2. pay rent"]'],
  },
  'reply to picture': {
    sees: ['[image "cat.png", 3 kB, id ID]', 'nice\n[in answer to Ada: image, id ID]'],
  },
  'partial quote': { none: 'a reply on Matrix is to a whole message' },
  forward: { none: NO_FORWARDS },
  'forwarded file': { none: NO_FORWARDS },
  edit: { sees: ['at noon', '[corrected: an earlier message "at noon" now says "at one"]'] },
  deletion: { sees: ['forget it', '[deleted: an earlier message "forget it"]'] },
  album: { none: 'each picture on Matrix is a message of its own' },
  picture: { sees: ['my cat\n[image "cat.png", 3 kB, id ID]'] },
  video: { sees: ['[video "a.mp4", 3 kB, id ID]'] },
  voice: { sees: ['[voice, 4 s, 3 kB, id ID]'] },
  document: { sees: ['[document "plan.pdf", 3 kB, id ID]'] },
  sticker: { sees: ['[sticker "Wave", 3 kB, id ID]'] },
  place: { sees: ['[location 48.137, 11.575, Marienplatz]'] },
  contact: { none: NO_SUCH },
  poll: { sees: ['[poll "Tea?": yes / no]'] },
  'poll result': { sees: ['[in this chat: a poll was closed]'] },
  checklist: { none: NO_SUCH },
  event: { none: NO_SUCH },
  invitation: { none: 'an invitation to a room is not a message: the assistant joins' },
  business: { none: NO_SUCH },
  button: { none: NO_SUCH },
  paid: { none: NO_SUCH },
  'view once': { none: NO_SUCH },
  topic: { none: 'threads of Matrix have no names' },
  migrated: { none: 'see the upgrade of a room' },
  'topic deleted': { none: 'a thread stays when its first message is deleted' },
  upgraded: {
    sees: [
      '(chat) matrix:!hall:test → matrix:!new:test',
      '(to the owner) The Matrix room Hall was upgraded. The chat goes on in the new room.',
    ],
  },
  left: { sees: ['[in this chat: Ada left]'] },
  unknown: { sees: ['[a kind of message that cannot be shown here: org.example.hologram]'] },
};

/** Does on Matrix what a cell is about. */
export async function sendMatrixContent(
  server: MatrixServer,
  kind: ContentKind,
  channel: Channel,
): Promise<void> {
  const say = (body: string, more: Readonly<Record<string, unknown>> = {}) =>
    server.say(ADA_DIRECT, ADA, body, more);
  const file = (msgtype: string, name: string, more: Readonly<Record<string, unknown>> = {}) =>
    say(name, { msgtype, url: 'mxc://test/x', info: { size: 3_000 }, ...more });
  const reply = (event_id: string) => ({ 'm.relates_to': { 'm.in_reply_to': { event_id } } });
  switch (kind) {
    case 'links':
      return void say('read [this page](https://example.org/a)', {
        format: 'org.matrix.custom.html',
        formatted_body: 'read <a href="https://example.org/a">this page</a>',
      });
    case 'reply': {
      const told = server.say(HALL, ADA, 'the tram is late');
      await server.until(() => server.waitingFor(BOT) === 0);
      return void server.say(HALL, ADA, 'so it is', reply(told));
    }
    case 'reply to us': {
      const text = '1. call Bob\n2. pay rent';
      await channel.send({ id: 'task-1', jid: `matrix:${ADA_DIRECT}`, text });
      const ours = server.events(ADA_DIRECT).findLast(({ sender }) => sender === BOT);
      return void say('do the second one', reply(ours?.event_id ?? ''));
    }
    case 'reply to picture':
      return void say('nice', reply(file('m.image', 'cat.png')));
    case 'edit': {
      const event_id = say('at noon');
      return void say('* at one', {
        'm.new_content': { msgtype: 'm.text', body: 'at one' },
        'm.relates_to': { rel_type: 'm.replace', event_id },
      });
    }
    case 'deletion': {
      const id = say('forget it');
      // What is deleted before anybody has read it is gone.
      await server.until(() => server.waitingFor(BOT) === 0);
      return server.redact(ADA_DIRECT, id, ADA);
    }
    case 'picture':
      return void file('m.image', 'my cat', { filename: 'cat.png' });
    case 'video':
      return void file('m.video', 'a.mp4');
    case 'voice':
      return void file('m.audio', 'Voice message', {
        info: { size: 3_000, duration: 4_000 },
        'org.matrix.msc3245.voice': {},
      });
    case 'document':
      return void file('m.file', 'plan.pdf');
    case 'sticker': {
      const content = { body: 'Wave', url: 'mxc://test/x', info: { size: 3_000 } };
      return void server.push(ADA_DIRECT, ADA, 'm.sticker', content);
    }
    case 'place':
      return void say('Marienplatz', { msgtype: 'm.location', geo_uri: 'geo:48.137,11.575;u=5' });
    case 'poll': {
      const answers = ['yes', 'no'].map((text) => ({ id: text, 'org.matrix.msc1767.text': text }));
      const question = { 'org.matrix.msc1767.text': 'Tea?', body: 'Tea?' };
      const start = {
        kind: 'org.matrix.msc3381.poll.disclosed',
        max_selections: 1,
        question,
        answers,
      };
      const content = { 'org.matrix.msc3381.poll.start': start };
      return void server.push(ADA_DIRECT, ADA, 'org.matrix.msc3381.poll.start', content);
    }
    case 'poll result': {
      const content = {
        'm.relates_to': { rel_type: 'm.reference', event_id: '$1:test' },
        'org.matrix.msc3381.poll.end': {},
        'org.matrix.msc1767.text': 'The poll has ended.',
      };
      return void server.push(ADA_DIRECT, ADA, 'org.matrix.msc3381.poll.end', content);
    }
    case 'left':
      return server.leave(HALL, ADA);
    case 'upgraded': {
      const predecessor = { room_id: HALL, event_id: '$1:test' };
      server.addRoom(
        '!new:test',
        [ADA, EVE],
        [
          { type: 'm.room.create', content: { room_version: '11', predecessor } },
          { type: 'm.room.join_rules', content: { join_rule: 'public' } },
        ],
      );
      const content = { body: 'This room has been replaced', replacement_room: '!new:test' };
      return void server.push(HALL, ADA, 'm.room.tombstone', content, '');
    }
    case 'unknown':
      return void say('', { msgtype: 'org.example.hologram' });
    default:
      throw new Error(`Matrix has no ${kind}.`);
  }
}
