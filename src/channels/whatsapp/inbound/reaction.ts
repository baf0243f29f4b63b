import type { WAMessage } from '@whiskeysockets/baileys';
import type { Reaction } from '../../channel.ts';
import type { Sent } from '../outbound/sent.ts';
import { type Reader, senderOf } from './message.ts';

/** Reads a reaction to a message of the assistant's; null for every other message. */
export function readReaction(
  raw: WAMessage,
  reader: Reader,
  sent: Pick<Sent, 'messageOf'>,
): Reaction | null {
  const { key } = raw;
  const reaction = raw.message ? reader.unwrap(raw.message)?.reactionMessage : null;
  const id = reaction?.key?.id;
  if (!reaction || !id || !key.remoteJid) return null;
  const jid = reader.addresses.chatOf(key.remoteJid, key.remoteJidAlt);
  const messageId = sent.messageOf(jid, id);
  if (messageId === null) return null;
  const sender = senderOf(raw, jid, reader);
  return { jid, sender, isOwner: sender === reader.owner, messageId, emoji: reaction.text || null };
}
