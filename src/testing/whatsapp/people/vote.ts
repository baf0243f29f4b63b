import { createHash, randomBytes } from 'node:crypto';
import { aesEncryptGCM, hmacSign, type proto } from '@whiskeysockets/baileys';
import type { ReadMessage } from './person.ts';

/** Addresses of who made a poll and of who votes, under which an app encrypts the vote. */
export type Addressed = { readonly creator: string; readonly voter: string };

/** Makes the vote of a person's app for options of a poll that it has read; none takes an earlier one back. */
export function voteOn(
  { id, to, message }: Pick<ReadMessage, 'id' | 'to' | 'message'>,
  options: readonly string[],
  { creator, voter }: Addressed,
): proto.IMessage {
  const secret = message.messageContextInfo?.messageSecret;
  if (!secret) throw new Error('the poll came without the key for its votes');
  const digests = options.map((option) => createHash('sha256').update(option).digest());
  const sign = Buffer.concat([Buffer.from(`${id}${creator}${voter}Poll Vote`), Buffer.from([1])]);
  const key = hmacSign(sign, hmacSign(Buffer.from(secret), new Uint8Array(32), 'sha256'), 'sha256');
  const encIv = randomBytes(12);
  const sealed = aesEncryptGCM(encodedVote(digests), key, encIv, Buffer.from(`${id}\0${voter}`));
  return {
    pollUpdateMessage: {
      pollCreationMessageKey: { remoteJid: to, fromMe: false, id },
      vote: { encPayload: sealed, encIv },
      senderTimestampMs: Date.now(),
    },
  };
}

/** Field 1 of the vote's message, once for each digest of 32 bytes. */
function encodedVote(digests: readonly Buffer[]): Buffer {
  return Buffer.concat(digests.flatMap((digest) => [Buffer.from([0x0a, digest.length]), digest]));
}
