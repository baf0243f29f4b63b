import type { proto, WAMessage } from '@whiskeysockets/baileys';
import { beginningOf, shortened } from '../../../lib/graphemes.ts';
import type { InboundMessage } from '../../channel.ts';
import type { Addresses } from './addresses.ts';
import { type Content, type MediaPart, oneLine, readContent } from './content.ts';

/** Knowledge for reading a message: our account, the addresses of people, and our own messages. */
export type Reader = {
  readonly addresses: Addresses;
  /** The account's own address. */
  readonly self: string;
  /** The owner's address: the account's own, or another where the account is the assistant's. */
  readonly owner: string;
  /** The assistant's name, as a mention of the account is written in the text. */
  readonly assistantName: string;
  readonly nameOf: (person: string) => string | null;
  readonly chatNameOf: (chat: string) => string | null;
  /** Returns the assistant's own message with that id in a chat, or null. */
  readonly ourText: (jid: string, messageId: string) => string | null;
  /** Takes the wrappings off: disappearing messages, view-once, captions. */
  readonly unwrap: (message: proto.IMessage) => proto.IMessage | undefined;
};

/** A message for the host, with the file that came along. */
export type ReadMessage = { readonly message: InboundMessage; readonly media: MediaPart | null };

/** Only the first part of a long quotation is repeated. */
const QUOTE_CHARACTERS = 200;
const NAME_CHARACTERS = 100;

/** Reads a message as the host takes it; null where there is nothing in it for people. */
export function readMessage(raw: WAMessage, reader: Reader): ReadMessage | null {
  const { key } = raw;
  const inner = raw.message ? reader.unwrap(raw.message) : undefined;
  const content = inner ? readContent(inner) : null;
  if (!content || !key.id || !key.remoteJid) return null;
  const { addresses, owner } = reader;
  const isDirect = !key.remoteJid.endsWith('@g.us');
  const jid = addresses.chatOf(key.remoteJid, key.remoteJidAlt);
  const sender = senderOf(raw, jid, reader);
  const answered = content.quoted === null ? null : reader.ourText(jid, content.quoted.id);
  const givenName = raw.pushName || reader.nameOf(sender);
  const senderName = givenName ? shortName(givenName) : null;
  const ownWords = withNames(content, reader);
  const text = withQuotation({ ...content, text: ownWords }, answered, reader);
  const message = {
    id: key.id,
    jid,
    chatName: isDirect
      ? directName(jid, { ...reader, sender, senderName })
      : reader.chatNameOf(jid),
    isDirect,
    sender,
    senderName,
    isOwner: sender === owner,
    mentionsAssistant: mentions(content, answered !== null, reader),
    text,
    ...(text === ownWords ? {} : { ownWords }),
    sentAt: Number(raw.messageTimestamp ?? 0) * 1_000,
    isContext: content.isContext,
    attachments: content.attachment === null ? [] : [content.attachment.attachment],
  };
  return { message, media: content.attachment };
}

type Named = Pick<Reader, 'self' | 'nameOf'> & {
  readonly sender: string;
  readonly senderName: string | null;
};

function directName(jid: string, { self, nameOf, sender, senderName }: Named): string | null {
  if (jid === self) return 'Me';
  return jid === sender ? senderName : nameOf(jid);
}

/** Returns the address of the person who wrote a message in that chat. */
export function senderOf({ key }: WAMessage, jid: string, { addresses, self }: Reader): string {
  if (key.fromMe) return self;
  return key.participant ? addresses.chatOf(key.participant, key.participantAlt) : jid;
}

/** Tells whether a message calls the assistant: by name, or by answering its message. */
function mentions(
  { mentioned }: Content,
  answersUs: boolean,
  { addresses, self }: Reader,
): boolean {
  if (answersUs) return true;
  return mentioned.some((jid) => addresses.find(jid) === self);
}

/**
 * Replaces mentions by names. In the text a mention is the number of an address, which tells the agent no
 * name. All are replaced in one go: a name may hold the number that it replaces.
 */
function withNames({ text, mentioned }: Content, reader: Reader): string {
  const names = new Map<string, string>();
  for (const jid of new Set(mentioned)) {
    const person = reader.addresses.find(jid);
    const name = person === reader.self ? reader.assistantName : person && reader.nameOf(person);
    if (name) names.set(jid.split('@', 1)[0] ?? '', shortName(name));
  }
  return text.replace(/@(\d+)/g, (whole, number: string) => {
    const name = names.get(number);
    return name === undefined ? whole : `@${name}`;
  });
}

/**
 * Adds the quotation after the text: one that begins with the assistant's name must go on beginning with it.
 */
function withQuotation({ text, quoted }: Content, answered: string | null, reader: Reader): string {
  const words = quoted === null ? '' : quoted.text || oneLine(answered ?? '');
  if (quoted === null || words === '') return text;
  const said = shortened(words, QUOTE_CHARACTERS);
  const person =
    quoted.sender === null ? null : (reader.addresses.find(quoted.sender) ?? quoted.sender);
  const name =
    person === null ? null : shortName(reader.nameOf(person) ?? person.split('@', 1)[0] ?? '');
  return `${text}\n[in answer to ${name === null ? '' : `${name}: `}"${said}"]`;
}

/** Truncates a display name; WhatsApp allows names of any length. */
function shortName(name: string): string {
  return oneLine(beginningOf(name, NAME_CHARACTERS));
}
