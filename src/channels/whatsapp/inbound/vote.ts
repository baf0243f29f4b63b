import { createHash } from 'node:crypto';
import type { proto, WAMessage } from '@whiskeysockets/baileys';
import type { Choice } from '../../channel.ts';
import type { Polls } from '../outbound/poll.ts';
import type { Sent } from '../outbound/sent.ts';
import type { Baileys } from '../session/baileys.ts';
import { type Reader, senderOf } from './message.ts';

/** Knowledge for reading a vote. */
export type VoteReader = {
  readonly reader: Reader;
  readonly baileys: Baileys;
  readonly sent: Sent;
  readonly polls: Polls;
  /** The account's own addresses, as WhatsApp gave them. */
  readonly own: readonly string[];
};

/**
 * Reads a vote on a poll of the assistant's as the choice that it is; null for every other message, and for a
 * vote that was taken back.
 *
 * A vote is encrypted for those in the chat, under the addresses of who made the poll and of who votes. Which
 * of a person's two addresses that is differs by chat and app, so each pair is tried: only the right one opens
 * it. The voter is always one of the addresses of the message's sender, whom its session vouches for.
 */
export function readVote(raw: WAMessage, parts: VoteReader): Choice | null {
  const { reader, baileys, sent, polls } = parts;
  const { key } = raw;
  const update = raw.message ? reader.unwrap(raw.message)?.pollUpdateMessage : null;
  const id = update?.pollCreationMessageKey?.id;
  if (!update?.vote || !id || !key.remoteJid) return null;
  const poll = polls.find(id);
  const jid = reader.addresses.chatOf(key.remoteJid, key.remoteJidAlt);
  const kept = poll === null ? null : sent.contentIn(jid, id);
  if (poll === null || kept?.kind !== 'file') return null;
  const sender = senderOf(raw, jid, reader);
  const message = baileys.proto.Message.decode(kept.message);
  const voters = key.fromMe ? parts.own : addressesOf(raw, sender, reader);
  const vote = opened({ ...parts, id, voters, message }, update.vote);
  const word = poll.words[chosenIn(message, vote)];
  if (word === undefined) return null;
  return { jid, sender, isOwner: sender === reader.owner, question: poll.question, word };
}

function addressesOf({ key }: WAMessage, sender: string, { addresses }: Reader): readonly string[] {
  const given = key.participant
    ? [key.participant, key.participantAlt]
    : [key.remoteJid, key.remoteJidAlt];
  return [...given, ...addresses.allOf(sender)].flatMap((address) => address ?? []);
}

type Sealed = Pick<VoteReader, 'baileys' | 'own'> & {
  readonly id: string;
  readonly voters: readonly string[];
  readonly message: proto.IMessage;
};

function opened(
  { baileys, own, id, voters, message }: Sealed,
  vote: proto.Message.IPollEncValue,
): proto.Message.IPollVoteMessage | null {
  const pollEncKey = message.messageContextInfo?.messageSecret;
  if (!pollEncKey) return null;
  const plain = (addresses: readonly string[]) => [
    ...new Set(addresses.map((address) => baileys.jidNormalizedUser(address))),
  ];
  for (const pollCreatorJid of plain(own)) {
    for (const voterJid of plain(voters)) {
      const under = { pollCreatorJid, pollMsgId: id, pollEncKey, voterJid };
      try {
        return baileys.decryptPollVote(vote, under);
      } catch {
        // Another pair of addresses: the cipher vouches that only the right one opens it.
      }
    }
  }
  return null;
}

/** Returns the place of the one option that was chosen, or -1. */
function chosenIn(
  { pollCreationMessageV3: poll }: proto.IMessage,
  vote: proto.Message.IPollVoteMessage | null,
): number {
  const [digest, another] = vote?.selectedOptions ?? [];
  if (digest === undefined || another !== undefined) return -1;
  const chosen = Buffer.from(digest);
  return (poll?.options ?? []).findIndex(({ optionName }) =>
    createHash('sha256')
      .update(optionName ?? '')
      .digest()
      .equals(chosen),
  );
}
