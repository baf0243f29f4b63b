import type { Channel } from '../../../src/channels/channel.ts';
import type { ContentCells, ContentKind } from '../../../src/testing/channel/content-kinds.ts';
import { ADA, ADA_DIRECT, EVE, GENERAL } from './fixtures.ts';
import type { SlackServer } from './slack-server.ts';

const NO_REPLIES = 'Slack has threads instead of replies';
const APPS_ALONE = 'only apps send this on Slack, and other apps are ignored';

/** What the agent sees of each kind of content on Slack. */
export const SLACK_CONTENT: ContentCells = {
  links: {
    sees: ['read [this page](https://example.org/a?b&c) and https://example.org'],
  },
  reply: { none: NO_REPLIES },
  'reply to us': {
    sees: [
      '(thread "The report: 1. call Bob 2. pay rent") do the second one\n[in answer to Andy: "The report: 1. call Bob 2. pay rent"]',
    ],
  },
  'reply to picture': { none: NO_REPLIES },
  'partial quote': { none: NO_REPLIES },
  forward: {
    sees: [
      "[forwarded from Eve: somebody else's words, not the sender's]\n> Server 3 is down\n> since 9",
      'what now?',
    ],
  },
  'forwarded file': {
    sees: [
      "[forwarded from Eve: somebody else's words, not the sender's]\n[image, 3 kB, id ID, forwarded from Eve]",
    ],
  },
  edit: {
    sees: ['at noon', '[corrected: an earlier message "at noon" now says "at one"]'],
  },
  deletion: { sees: ['forget it', '[deleted: an earlier message "forget it"]'] },
  album: {
    sees: ['[image, 3 kB, id ID]', '[image, 3 kB, id ID]', 'compare these\n[image, 3 kB, id ID]'],
  },
  picture: { sees: ['my cat\n[image, 3 kB, id ID]'] },
  video: { sees: ['[video, 3 kB, id ID]'] },
  voice: { sees: ['[voice, 4 s, 3 kB, id ID]'] },
  document: { sees: ['[document "plan.pdf", 3 kB, id ID]'] },
  sticker: { none: 'Slack has only emoji, which are text' },
  place: { none: 'Slack shares no places' },
  contact: { none: 'Slack shares no contacts' },
  poll: { none: APPS_ALONE },
  'poll result': { none: APPS_ALONE },
  checklist: { none: 'a list of Slack is a file of its own kind' },
  event: { none: APPS_ALONE },
  invitation: { none: 'people are invited to a channel, not by a message' },
  business: { none: APPS_ALONE },
  button: { none: APPS_ALONE },
  paid: { none: 'Slack sells no media' },
  'view once': { none: 'Slack has no such media' },
  topic: { sees: ['(thread "plans for the summer house") by boat'] },
  migrated: { sees: ['(chat) slack:C0GENERAL → slack:C0SHARED'] },
  'topic deleted': { none: 'a thread stays when its first message is deleted' },
  upgraded: { none: 'channels are not upgraded' },
  left: { sees: ['hello', '[in this chat: @Ada Lovelace has left the channel]'] },
  unknown: {
    sees: ['hello', '[a kind of message that cannot be shown here: huddle_of_tomorrow]'],
  },
};

const FILE = { id: 'F0CAT', size: 3_000, mimetype: 'image/png', mode: 'hosted' };

/** Does at Slack what a cell is about. */
export async function sendSlackContent(
  slack: SlackServer,
  kind: ContentKind,
  channel: Channel,
): Promise<void> {
  const say = (text: string, more: Readonly<Record<string, unknown>> = {}) =>
    slack.sendText(ADA, ADA_DIRECT, text, more);
  const file = (more: Readonly<Record<string, unknown>>, text = '') =>
    say(text, { subtype: 'file_share', files: [{ ...FILE, ...more }] });
  const share = (more: Readonly<Record<string, unknown>>, text = '') =>
    say(text, { attachments: [{ is_msg_unfurl: true, is_share: true, ...SHARED, ...more }] });
  const change = (subtype: string, more: Readonly<Record<string, unknown>>) =>
    slack.push({ type: 'message', subtype, channel: ADA_DIRECT, channel_type: 'im', ...more });
  switch (kind) {
    case 'links':
      return void say('', { blocks: LINKS });
    case 'reply to us': {
      const text = 'The report:\n1. call Bob\n2. pay rent';
      await channel.send({ id: 'task-1', jid: `slack:${ADA_DIRECT}`, text });
      return void say('do the second one', {
        thread_ts: slack.stampOf(0),
        parent_user_id: slack.botUserId,
      });
    }
    case 'forward':
      return void share({ text: 'Server 3 is down\nsince 9' }, 'what now?');
    case 'forwarded file':
      return void share({ text: '', fallback: '[no preview available]', files: [FILE] });
    case 'edit': {
      const ts = say('at noon');
      const of = { type: 'message', user: ADA, ts };
      const edited = { user: ADA, ts: '1700000009.000000' };
      return change('message_changed', {
        hidden: true,
        ts: '1700000009.000100',
        message: { ...of, text: 'at one', edited },
        previous_message: { ...of, text: 'at noon' },
      });
    }
    case 'deletion': {
      const ts = say('forget it');
      const previous = { type: 'message', user: ADA, ts, text: 'forget it' };
      return change('message_deleted', {
        hidden: true,
        ts: '1700000009.000100',
        deleted_ts: ts,
        previous_message: previous,
      });
    }
    case 'album': {
      const files = ['F1', 'F2', 'F3'].map((id) => ({ ...FILE, id }));
      return void say('compare these', { subtype: 'file_share', files });
    }
    case 'picture':
      return void file({}, 'my cat');
    case 'video':
      return void file({ mimetype: 'video/mp4' });
    case 'voice':
      return void file({ mimetype: 'audio/webm', subtype: 'slack_audio', duration_ms: 4_000 });
    case 'document':
      return void file({ mimetype: 'application/pdf', name: 'plan.pdf' });
    case 'topic': {
      const ts = slack.remember(EVE, GENERAL, 'plans for the summer house');
      return void slack.sendText(ADA, GENERAL, 'by boat', { thread_ts: ts, parent_user_id: EVE });
    }
    case 'migrated':
      slack.sendText(ADA, GENERAL, 'after it');
      return slack.push({
        type: 'channel_id_changed',
        old_channel_id: GENERAL,
        new_channel_id: 'C0SHARED',
        event_ts: '1700000009.000100',
      });
    case 'left':
    case 'unknown': {
      slack.sendText(ADA, GENERAL, 'hello');
      const text = kind === 'left' ? `<@${ADA}> has left the channel` : '';
      const subtype = kind === 'left' ? 'channel_leave' : 'huddle_of_tomorrow';
      return void slack.sendText(ADA, GENERAL, text, { subtype });
    }
    default:
      throw new Error(`Slack has no ${kind}.`);
  }
}

const SHARED = {
  from_url: 'https://example.slack.com/archives/C0OTHER/p1700000001000100',
  ts: '1700000001.000100',
  author_id: EVE,
  author_name: 'Eve',
  channel_id: 'C0OTHER',
  footer: 'Posted in #other',
};

const LINKS = [
  {
    type: 'rich_text',
    block_id: 'x',
    elements: [
      {
        type: 'rich_text_section',
        elements: [
          { type: 'text', text: 'read ' },
          { type: 'link', url: 'https://example.org/a?b&c', text: 'this page' },
          { type: 'text', text: ' and ', style: { bold: true } },
          { type: 'link', url: 'https://example.org' },
        ],
      },
    ],
  },
];
