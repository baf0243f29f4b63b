import type { Chat, Message, MessageEntity, User, UserFromGetMe } from 'grammy/types';
import type { ChatCommand, InboundMessage } from '../channel.ts';
import { correctedNote } from '../kit/notes.ts';
import { fileOf, type MessageFile } from './content.ts';
import { authorOf, contentNotes, fullName, happeningIn, notesOf } from './content-notes.ts';
import { jidOf } from './jid.ts';
import { typedCommand } from './menu.ts';
import { answeredBy } from './reply.ts';

/** A message for the host, with the reference to its file, which may be that of a message it answers. */
export type Readable = { readonly message: InboundMessage; readonly file: MessageFile | null };

/** Knowledge for reading a message. */
export type Reading = {
  readonly me: UserFromGetMe;
  readonly owner: string | null;
  readonly commands: readonly ChatCommand[];
  /** Returns the name of a topic of that chat; null for one whose name was never told. */
  readonly topicName: (chatId: number, thread: number) => string | null;
  /** Tells whether the agent can fetch the file of that message. */
  readonly hasFile: (jid: string, messageId: string) => boolean;
};

/** Reads a message of a person, or a line of Telegram's own about the chat. */
export function readMessage(message: Message, reading: Reading): Readable | null {
  if (message.from === undefined) return null;
  const base = baseOf(message, message.from, reading);
  const happening = happeningIn(message);
  if (happening !== null) {
    const about = { text: '', mentionsAssistant: false, notes: [happening], isContext: true };
    return { message: { ...base, ...about }, file: null };
  }
  const { me, commands, hasFile } = reading;
  const isKnown = (id: string) => hasFile(base.jid, id);
  const answered = answeredBy(message, { isKnown });
  const file = fileOf(message) ?? answered.file;
  const words = wordsOf(message);
  const notes = [...notesOf(message), ...(answered.note === null ? [] : [answered.note])];
  if (words === '' && notes.length === 0 && file === null) return null;
  const origin = message.forward_origin;
  const own = {
    text: typedCommand(words, { username: me.username, commands }),
    mentionsAssistant: mentions(message, me),
  };
  const others = { text: words, mentionsAssistant: false };
  const inbound: InboundMessage = {
    ...base,
    ...(origin === undefined ? own : { ...others, forwarded: { from: authorOf(origin) } }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(file === null ? {} : { attachments: [file.attachment] }),
  };
  return { message: inbound, file };
}

/**
 * Reads a message that was changed after it was sent: to be known about, and not to be answered. Null where no words were
 * changed, as when a live location moves.
 */
export function readEdit(message: Message, reading: Reading): InboundMessage | null {
  const words = wordsOf(message);
  const notes = [...(words === '' ? [] : [correctedNote(words)]), ...editedContent(message)];
  if (message.from === undefined || notes.length === 0) return null;
  const base = baseOf(message, message.from, reading);
  return {
    ...base,
    id: `${base.id}-${message.edit_date ?? 0}`,
    text: '',
    mentionsAssistant: false,
    ...(message.forward_origin === undefined
      ? {}
      : { forwarded: { from: authorOf(message.forward_origin) } }),
    notes,
    isContext: true,
  };
}

/** A list of things to do is sent anew with each change. */
function editedContent(message: Message): readonly string[] {
  return message.checklist === undefined ? [] : contentNotes(message);
}

function baseOf(
  message: Message,
  from: User,
  { owner, topicName }: Reading,
): Omit<InboundMessage, 'text' | 'mentionsAssistant'> {
  return {
    id: String(message.message_id),
    jid: jidOf(message.chat.id),
    chatName: chatNameOf(message.chat),
    isDirect: message.chat.type === 'private',
    sender: String(from.id),
    senderName: fullName(from.first_name, from.last_name),
    isOwner: String(from.id) === owner,
    sentAt: message.date * 1_000,
    ...placeIn(message, topicName),
  };
}

/** The topic of a message. Elsewhere Telegram counts the answers to a message as a thread. */
function placeIn(message: Message, topicName: Reading['topicName']) {
  const { message_thread_id: thread, chat } = message;
  if (message.is_topic_message && thread !== undefined) {
    const name = topicName(chat.id, thread) ?? String(thread);
    return { thread: String(thread), threadName: `topic ${name}` };
  }
  return chat.is_forum === true ? { threadName: 'topic General' } : {};
}

/** Returns the words of a message, with each address that stands behind some of them. */
function wordsOf({ text, entities, caption, caption_entities: captioned }: Message): string {
  const words = text ?? caption ?? '';
  const links = (text === undefined ? captioned : entities) ?? [];
  return links
    .filter((entity) => entity.type === 'text_link')
    .toSorted((one, other) => other.offset - one.offset)
    .reduce((so, { offset, length, url }) => {
      const behind = so.slice(offset, offset + length);
      return `${so.slice(0, offset)}[${behind}](${url})${so.slice(offset + length)}`;
    }, words);
}

/** A group's title, or the name of the person on the other side. */
export function chatNameOf(chat: Chat): string | null {
  return chat.title ?? fullName(chat.first_name, chat.last_name);
}

/** By name, by a command addressed to the bot, or by answering one of its messages. */
function mentions(message: Message, me: UserFromGetMe): boolean {
  if (message.reply_to_message?.from?.id === me.id) return true;
  const text = message.text ?? message.caption ?? '';
  const entities = message.entities ?? message.caption_entities ?? [];
  return entities.some((entity) => names(entity, text, me));
}

function names(entity: MessageEntity, text: string, me: UserFromGetMe): boolean {
  const handle = `@${me.username}`.toLowerCase();
  const words = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
  switch (entity.type) {
    case 'mention':
      return words === handle;
    case 'bot_command':
      return words.endsWith(handle);
    case 'text_mention':
      return entity.user.id === me.id;
    default:
      return false;
  }
}
