import type { Attachment, InboundMessage } from '../../channel.ts';
import {
  answerNote,
  happenedNote,
  pollNote,
  shortName,
  stickerNote,
  unknownNote,
} from '../../kit/notes.ts';
import { farIdOf, jidOf } from '../jid.ts';
import type { FarAttachment, FarEmbed, FarMessageContent, FarPoll, FarSnapshot } from './event.ts';
import { isPollResult, nameOf } from './event.ts';
import type { Place, Places } from './places.ts';
import { type Me, mentionsBot, readText } from './text.ts';

/** A message for the host, with the reference to its file. */
export type Readable = {
  readonly message: InboundMessage;
  readonly file: { readonly farId: string; readonly attachment: FarAttachment } | null;
};

export type Reading = {
  readonly place: Place;
  readonly me: Me;
  readonly names: Places;
  readonly owner: string | null;
};

/**
 * Reads a message of a person. A message has one file for the host: of several, the others come before it as messages
 * of their own, to be known about. None where it has no content that the bot may see.
 */
export function readMessage(message: FarMessageContent, reading: Reading): readonly Readable[] {
  const { me, names } = reading;
  const base = { ...baseOf(message, reading), ...threadOf(message, reading) };
  const farId = farIdOf({ channelId: message.channel_id, messageId: message.id });
  const words = readText(message, reading);
  const answer = answerOf(message, reading);
  const own = ownNotes(message, reading);
  const hasOwn = words !== '' || own.length > 0 || message.attachments.length > 0;
  const snapshots = message.message_snapshots.map(({ message: one }) => one);
  const forwards = snapshots.flatMap((snapshot, at) => {
    const notes = stickersOf(snapshot);
    const forward: InboundMessage = {
      ...base,
      id: `${message.id}-forward${at === 0 ? '' : `-${at + 1}`}`,
      text: [readText({ content: snapshot.content, mentions: [] }, reading), ...embedsOf(snapshot)]
        .filter((part) => part !== '')
        .join('\n'),
      forwarded: { from: null },
      ...(notes.length === 0 ? {} : { notes }),
      mentionsAssistant: false,
      // Discord lets people add no words to a forward; where they could, those ask the question.
      ...(hasOwn || at < snapshots.length - 1 ? { isContext: true } : {}),
    };
    return withFiles(forward, farId, snapshot.attachments);
  });
  if (!hasOwn && forwards.length > 0) return forwards;
  // Without the intent for contents, Discord sends an empty message.
  if (!hasOwn && answer === null) return [];
  const notes = [...own, ...(answer === null ? [] : [answer])];
  const whole: InboundMessage = {
    ...base,
    text: words,
    ...(notes.length === 0 ? {} : { notes }),
    mentionsAssistant: mentionsBot(message, me, names),
  };
  return [...forwards, ...withFiles(whole, farId, message.attachments)];
}

/** Discord's numbers of what it tells about members: those of a thread, and who has come to the server. */
const ADDED = 1;
const REMOVED = 2;
const CAME = 7;

/** Returns the note for who came or left; null for everything else. */
function memberNote({ type, author, member, mentions }: FarMessageContent): string | null {
  if (type !== ADDED && type !== REMOVED && type !== CAME) return null;
  const actor = shortName(nameOf(author, member?.nick));
  const [affected = author] = type === CAME ? [] : mentions;
  if (affected.id === author.id)
    return happenedNote(`${actor} ${type === REMOVED ? 'left' : 'joined'}`);
  const verb = type === REMOVED ? 'removed' : 'added';
  return happenedNote(`${actor} ${verb} ${shortName(nameOf(affected))}`);
}

/** Reads what nobody said: news of members, the result of a poll, or an unknown kind. To be known about. */
export function readEvent(message: FarMessageContent, reading: Reading): InboundMessage {
  const base = { ...baseOf(message, reading), ...threadOf(message, reading) };
  const silent = { text: '', mentionsAssistant: false, isContext: true } as const;
  if (!isPollResult(message)) {
    const note = memberNote(message) ?? unknownNote(`type ${message.type}`);
    return { ...base, ...silent, notes: [note] };
  }
  const fields = message.embeds.flatMap(({ fields: all }) => all);
  const fieldOf = (name: string) => fields.find((field) => field.name === name)?.value ?? '';
  const options = [
    {
      text: fieldOf('victor_answer_text') || 'no winner',
      votes: Number(fieldOf('victor_answer_votes')),
    },
    { text: 'all options', votes: Number(fieldOf('total_votes')) },
  ];
  const question = fieldOf('poll_question_text');
  return { ...base, ...silent, notes: [pollNote({ question, options, isClosed: true })] };
}

/** Splits the files of a message: it has one for the host, and the others come before it, to be known about. */
function withFiles(
  whole: InboundMessage,
  farId: string,
  [first, ...others]: readonly FarAttachment[],
): readonly Readable[] {
  const { notes: _, ...base } = whole;
  const extras = others.map((attachment, at): Readable => {
    const own = { text: '', mentionsAssistant: false, isContext: true };
    return withFile({ ...base, ...own, id: `${whole.id}-${at + 2}` }, farId, attachment);
  });
  return [
    ...extras,
    first === undefined ? { message: whole, file: null } : withFile(whole, farId, first),
  ];
}

function threadOf({ channel_id: id }: FarMessageContent, { place, names }: Reading) {
  const name = place.thread === null ? null : names.channelName(id);
  return name === null ? {} : { threadName: `thread ${name}` };
}

/** The note for what a message answers, the assistant's own words as well: the conversation may not hold them any more. */
function answerOf(
  { referenced_message: quoted }: FarMessageContent,
  reading: Reading,
): string | null {
  if (quoted == null) return null;
  const { me } = reading;
  const [file] = quoted.attachments;
  const content = [
    ...(file === undefined ? [] : [kindOf(file)]),
    ...stickersOf(quoted),
    ...(quoted.poll == null ? [] : [pollOf(quoted.poll)]),
  ];
  return answerNote({
    from: quoted.author.id === me.id ? me.assistantName : nameOf(quoted.author),
    words: [readText({ content: quoted.content, mentions: [] }, reading), ...embedsOf(quoted)].join(
      ' ',
    ),
    content: content.join(', '),
    fileId: file === undefined ? null : quoted.id,
  });
}

/** The parts of a message that do not depend on what it says. */
export function baseOf(
  message: Pick<FarMessageContent, 'id' | 'author' | 'member'>,
  { place, owner }: Pick<Reading, 'place' | 'owner'>,
): Omit<InboundMessage, 'text' | 'mentionsAssistant'> {
  const { id, author, member } = message;
  const senderName = nameOf(author, member?.nick);
  return {
    id,
    jid: jidOf(place.chatId),
    chatName: place.isDirect ? senderName : place.name,
    isDirect: place.isDirect,
    sender: author.id,
    senderName,
    isOwner: author.id === owner,
    sentAt: sentAt(id),
    ...(place.thread === null ? {} : { thread: place.thread }),
  };
}

const DISCORD_EPOCH_MS = 1_420_070_400_000n;

/** An id of Discord's holds the time at which it was made. */
function sentAt(id: string): number {
  return Number((BigInt(id) >> 22n) + DISCORD_EPOCH_MS);
}

function withFile(message: InboundMessage, farId: string, attachment: FarAttachment): Readable {
  return {
    message: { ...message, attachments: [described(attachment)] },
    file: { farId, attachment },
  };
}

function described(file: FarAttachment): Attachment {
  const seconds = file.duration_secs;
  return {
    kind: kindOf(file),
    mimeType: file.content_type ?? null,
    sizeBytes: file.size ?? null,
    name: file.filename,
    ...(seconds == null ? {} : { seconds: Math.round(seconds) }),
  };
}

/** Only voice messages have a length. */
function kindOf({ content_type: type, duration_secs: seconds }: FarAttachment): Attachment['kind'] {
  const [kind] = (type ?? '').split('/', 1);
  if (kind === 'audio') return seconds == null ? 'audio' : 'voice';
  return kind === 'image' || kind === 'video' ? kind : 'document';
}

/** Content that is neither text nor a file. */
function ownNotes(message: FarMessageContent, reading: Reading): readonly string[] {
  const poll = message.poll == null ? [] : [pollOf(message.poll)];
  const hasWords = readText(message, reading) !== '' || message.message_snapshots.length > 0;
  // Beside words, an embed is a preview of a link in them.
  const embeds = hasWords ? [] : embedsOf(message).map((text) => `embed: ${text}`);
  return [...stickersOf(message), ...poll, ...embeds];
}

function stickersOf({ sticker_items: all }: Pick<FarSnapshot, 'sticker_items'>): readonly string[] {
  return all.map(({ name }) => stickerNote(name));
}

function embedsOf({ embeds }: Pick<FarSnapshot, 'embeds'>): readonly string[] {
  return embeds
    .map(({ title, description, url, fields }: FarEmbed) => {
      const head = title && url ? `[${title.replace(/[[\]]/g, '')}](${url})` : title || url;
      return [head, description, ...fields.map(({ name, value }) => `${name}: ${value}`)]
        .filter((part) => part)
        .join('\n');
    })
    .filter((text) => text !== '');
}

function pollOf({ question, answers, results }: FarPoll): string {
  const votes = new Map(results?.answer_counts.map(({ id, count }) => [id, count]));
  return pollNote({
    question: question.text,
    options: answers.map(({ answer_id: id, poll_media: media }) => ({
      text: media?.text ?? '?',
      votes: id == null ? null : (votes.get(id) ?? null),
    })),
    isClosed: results?.is_finalized ?? false,
  });
}
