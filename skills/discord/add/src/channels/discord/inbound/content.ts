import type { Attachment, InboundMessage } from '../../channel.ts';
import { farIdOf, jidOf } from '../jid.ts';
import type { FarAttachment, FarMessageContent } from './event.ts';
import { nameOf } from './event.ts';
import type { Place, Places } from './places.ts';
import { type Me, mentionsBot, readText, withQuotation } from './text.ts';

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
  const [first, ...others] = message.attachments;
  const own = [...notesOf(message), readText(message, reading)].filter((part) => part !== '');
  const ownWords = own.join(' ');
  if (ownWords === '' && first === undefined) return [];
  const text = withQuotation(ownWords, message, reading);
  const base = baseOf(message, reading);
  const whole: InboundMessage = {
    ...base,
    text,
    ...(text === ownWords ? {} : { ownWords }),
    mentionsAssistant: mentionsBot(message, me, names),
  };
  const farId = farIdOf({ channelId: message.channel_id, messageId: message.id });
  const extras = others.map((attachment, at): Readable => {
    const id = `${message.id}-${at + 2}`;
    const extra = { ...base, id, text: '', mentionsAssistant: false, isContext: true };
    return withFile(extra, farId, attachment);
  });
  const main = first === undefined ? { message: whole, file: null } : withFile(whole, farId, first);
  return [...extras, main];
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

/** Content that is neither text nor a file, in words. */
function notesOf(message: FarMessageContent): readonly string[] {
  const stickers = message.sticker_items.map(({ name }) => `[sticker] ${name}`);
  const poll = message.poll == null ? [] : [`[poll] ${message.poll.question.text}`];
  const forwarded = message.message_snapshots.map((one) => `[forwarded] ${one.message.content}`);
  return [...stickers, ...poll, ...forwarded].map((note) => note.trim());
}
