import type { Message } from 'grammy/types';
import { answerNote } from '../kit/notes.ts';
import { fileOf, type MessageFile } from './content.ts';
import { authorOf, contentNotes, nameOf } from './content-notes.ts';

/** The message that another one answers, as the agent is told of it. */
export type Answered = {
  readonly note: string | null;
  /** The file of what is answered, where the assistant has not seen that message. */
  readonly file: MessageFile | null;
};

type Reply = NonNullable<Message['reply_to_message']>;

/**
 * Reads what a message answers: another one of the chat, or one of elsewhere. Words that the sender has chosen of it are
 * told apart from a quotation that Telegram adds by itself.
 *
 * @param isKnown tells whether the agent can fetch the file of a message of this chat by its id
 */
export function answeredBy(
  message: Message,
  { isKnown }: { readonly isKnown: (messageId: string) => boolean },
): Answered {
  const { reply_to_message: reply, external_reply: external, quote } = message;
  const part = quote?.is_manual === true ? quote.text : null;
  if (reply !== undefined && reply.forum_topic_created === undefined) {
    const file = fileOf(reply);
    const id = String(reply.message_id);
    const isThere = file !== null && isKnown(id);
    const words = reply.text ?? reply.caption ?? '';
    const content = [...(file === null ? [] : [file.attachment.kind]), ...contentNotes(reply)];
    const note = answerNote({
      from: whoSaid(reply),
      words,
      part,
      content: contentOf(content, file !== null && !isThere),
      fileId: isThere ? id : null,
    });
    return { note, file: isThere ? null : file };
  }
  if (external !== undefined) {
    const file = fileOf(external);
    const content = [...(file === null ? [] : [file.attachment.kind]), ...contentNotes(external)];
    const note = answerNote({
      from: authorOf(external.origin),
      words: quote?.text ?? '',
      part,
      content: contentOf(content, file !== null),
    });
    return { note, file };
  }
  if (message.reply_to_story !== undefined) {
    return { note: answerNote({ from: null, words: '', content: 'a story' }), file: null };
  }
  return { note: null, file: null };
}

function contentOf(content: readonly string[], isBelow: boolean): string | null {
  if (content.length === 0) return null;
  return `${content.join(', ')}${isBelow ? ', which is the file below' : ''}`;
}

function whoSaid({ from, sender_chat: chat, forward_origin: origin }: Reply): string | null {
  const name = chat?.title ?? (from === undefined ? null : nameOf(from));
  const author = origin === undefined ? null : authorOf(origin);
  return author === null || author === name ? name : `${name} (forwarded from ${author})`;
}
