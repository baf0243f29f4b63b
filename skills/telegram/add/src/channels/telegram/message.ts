import type { Chat, Message, MessageEntity, UserFromGetMe } from 'grammy/types';
import type { ChatCommand, InboundMessage } from '../channel.ts';
import { fileOf } from './content.ts';
import { jidOf } from './jid.ts';
import { typedCommand } from './menu.ts';

/** Named in words, because they are neither text nor a file. */
const KINDS = [
  'contact',
  'dice',
  'location',
  'poll',
  'sticker',
  'story',
] as const satisfies readonly (keyof Message)[];

/** Reads a message of a person; null where it has no content, such as "X joined the group". */
export function readMessage(
  message: Message,
  me: UserFromGetMe,
  { owner, commands }: { readonly owner: string | null; readonly commands: readonly ChatCommand[] },
): InboundMessage | null {
  const file = fileOf(message);
  const text = file === null ? textOf(message) : (message.caption ?? '');
  if (text === null || message.from === undefined) return null;
  return {
    id: String(message.message_id),
    jid: jidOf(message.chat.id),
    chatName: chatNameOf(message.chat),
    isDirect: message.chat.type === 'private',
    sender: String(message.from.id),
    senderName: fullName(message.from.first_name, message.from.last_name),
    isOwner: String(message.from.id) === owner,
    mentionsAssistant: mentions(message, me),
    text: typedCommand(text, { username: me.username, commands }),
    sentAt: message.date * 1_000,
    ...(file === null ? {} : { attachments: [file.attachment] }),
    // Elsewhere Telegram counts the answers to a message as a thread.
    ...(message.is_topic_message && message.message_thread_id !== undefined
      ? { thread: String(message.message_thread_id) }
      : {}),
  };
}

/** A group's title, or the name of the person on the other side. */
export function chatNameOf(chat: Chat): string | null {
  return chat.title ?? fullName(chat.first_name, chat.last_name);
}

function fullName(first: string | undefined, last: string | undefined): string | null {
  const name = [first, last].filter((part) => part !== undefined && part !== '').join(' ');
  return name === '' ? null : name;
}

function textOf(message: Message): string | null {
  if (message.text !== undefined) return message.text;
  const kind = KINDS.find((name) => message[name] !== undefined);
  if (kind === undefined) return null;
  const words = message.caption ?? message.sticker?.emoji ?? message.poll?.question ?? '';
  return `[${kind}] ${words}`.trimEnd();
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
