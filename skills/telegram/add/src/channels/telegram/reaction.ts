import type { MessageReactionUpdated } from 'grammy/types';
import type { Reaction } from '../channel.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { jidOf } from './jid.ts';

/**
 * Reads what a person has put on a message of the bot's now; null for another message, for emojis that are pictures
 * of somebody's own, and for a group that reacts in its own name.
 */
export function reactionIn(
  update: MessageReactionUpdated | undefined,
  sent: Pick<SentMessages, 'idOf'>,
  owner: string | null,
): Reaction | null {
  if (update?.user === undefined) return null;
  const jid = jidOf(update.chat.id);
  const messageId = sent.idOf(jid, String(update.message_id));
  const emojis = update.new_reaction.flatMap((each) => (each.type === 'emoji' ? [each.emoji] : []));
  const isPicture = update.new_reaction.length > 0 && emojis.length === 0;
  if (messageId === null || isPicture) return null;
  const emoji = emojis.at(-1) ?? null;
  const sender = String(update.user.id);
  return { jid, sender, isOwner: sender === owner, messageId, emoji };
}
