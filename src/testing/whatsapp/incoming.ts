import { randomUUID } from 'node:crypto';
import { type BinaryNode, generateMessageIDV2, type proto } from '@whiskeysockets/baileys';
import { node } from './node.ts';
import type { Account } from './people/account.ts';
import type { WhatsAppGroup } from './people/group.ts';
import { takeBundle } from './people/key-bundle.ts';
import type { Person } from './people/person.ts';

/** Details of a message; defaults are made up. */
export type Saying = {
  readonly id?: string;
  readonly group?: WhatsAppGroup;
  /** The kind of the sender's address; the other goes along as its alternative. */
  readonly as?: 'lid' | 'pn';
  /** Leaves the other address out, as older clients do. */
  readonly isAlone?: boolean;
  /** Milliseconds since the epoch. */
  readonly sentAt?: number;
};

type Speaker = Pick<Person, 'pn' | 'lid' | 'name' | 'peer'>;

/** Returns a message of a person, encrypted for the device under test, as the server hands it over. */
export async function stanzaFrom(
  speaker: Speaker,
  account: Account,
  said: { readonly message: proto.IMessage; readonly saying: Saying },
): Promise<BinaryNode> {
  const { group, as = 'lid' } = said.saying;
  const recipient = account.recipient(takeBundle);
  const attrs = attrsOf(said.message, said.saying, speaker.name);
  const address = as === 'lid' ? speaker.lid : speaker.pn;
  if (group === undefined) {
    const other = as === 'lid' ? { sender_pn: speaker.pn } : { sender_lid: speaker.lid };
    const sealed = await speaker.peer.seal(recipient, said.message);
    return node('message', { ...attrs, from: address, ...unless(said.saying, other) }, [sealed]);
  }
  const sealed = await speaker.peer.sealForGroup(
    { ...recipient, group: group.jid, as: address },
    said.message,
  );
  const other = as === 'lid' ? { participant_pn: speaker.pn } : { participant_lid: speaker.lid };
  const place = { from: group.jid, participant: address, addressing_mode: as };
  return node('message', { ...attrs, ...place, ...unless(said.saying, other) }, sealed);
}

/** Returns a message that the owner wrote on the phone, as WhatsApp passes it on to the companion device. */
export async function stanzaFromPhone(
  account: Account,
  chat: string,
  said: { readonly message: proto.IMessage; readonly saying: Saying },
): Promise<BinaryNode> {
  const { message, saying } = said;
  const attrs = attrsOf(message, saying, 'Owner');
  const recipient = account.recipient(takeBundle);
  const { group, as = 'pn' } = saying;
  const address = as === 'lid' ? account.lid : account.pn;
  if (group !== undefined) {
    const place = { from: group.jid, participant: address, addressing_mode: as };
    const to = { ...recipient, group: group.jid, as: address };
    return node('message', { ...attrs, ...place }, await account.phone.sealForGroup(to, message));
  }
  const passedOn = { deviceSentMessage: { destinationJid: chat, message } };
  const sealed = await account.phone.seal(recipient, passedOn);
  return node('message', { ...attrs, from: address, recipient: chat }, [sealed]);
}

function attrsOf(message: proto.IMessage, saying: Saying, name: string): BinaryNode['attrs'] {
  const { id = generateMessageIDV2(randomUUID()), sentAt = Date.now() } = saying;
  const type = message.reactionMessage ? 'reaction' : 'text';
  return { id, t: String(Math.floor(sentAt / 1000)), notify: name, type };
}

function unless(saying: Saying, other: BinaryNode['attrs']): BinaryNode['attrs'] {
  return saying.isAlone === true ? {} : other;
}
