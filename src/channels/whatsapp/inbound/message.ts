import type { proto, WAMessage } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { jsonWithin } from '../../../lib/bounded-json.ts';
import { text } from '../../../lib/bounded-schema.ts';
import type { InboundMessage } from '../../channel.ts';
import { answerNote, happenedNote, shortName } from '../../kit/notes.ts';
import type { Addresses } from './addresses.ts';
import { type Content, isToBeViewedOnce, type MediaPart, readContent } from './content.ts';

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

/** Reads a message in the form that the host takes; null if it has nothing for people. */
export function readMessage(raw: WAMessage, reader: Reader): ReadMessage | null {
  const { key } = raw;
  const inner = raw.message ? reader.unwrap(raw.message) : undefined;
  const content =
    inner && raw.message
      ? readContent(inner, isToBeViewedOnce(raw.message))
      : happening(memberNote(raw, reader));
  if (!content || !key.id || !key.remoteJid) return null;
  const { addresses, owner } = reader;
  const isDirect = !key.remoteJid.endsWith('@g.us');
  const jid = addresses.chatOf(key.remoteJid, key.remoteJidAlt);
  const sender = senderOf(raw, jid, reader);
  const answered = content.quoted === null ? null : reader.ourText(jid, content.quoted.id);
  const givenName = raw.pushName || reader.nameOf(sender);
  const senderName = givenName ? shortName(givenName) : null;
  const answer = quotation(content, answered, reader);
  const notes = [...content.notes, ...(answer === null ? [] : [answer])];
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
    text: withNames(content, reader),
    ...(content.isForwarded ? { forwarded: { from: null } } : {}),
    ...(notes.length === 0 ? {} : { notes }),
    sentAt: Number(raw.messageTimestamp ?? 0) * 1_000,
    isContext: content.isContext,
    attachments: content.attachment === null ? [] : [content.attachment.attachment],
  };
  return { message, media: content.attachment };
}

/** Something that happened in the chat, and was said by nobody. */
function happening(note: string | null): Content | null {
  if (note === null) return null;
  const nothing = { text: '', isForwarded: false, attachment: null, quoted: null, mentioned: [] };
  return { ...nothing, notes: [note], isContext: true };
}

/** Knowledge for naming people. */
type NamingFacts = {
  readonly addresses: Pick<Addresses, 'find'>;
  readonly self: string;
  readonly assistantName: string;
  readonly nameOf: (person: string) => string | null;
};

/** WhatsApp's numbers of what it tells about a group's members, in `WebMessageInfo.StubType`. */
const ADDED = 27;
const REMOVED = 28;
const JOINED_BY_LINK = 31;
const LEFT = 32;

const Member = z.object({ id: text(200), phoneNumber: text(200).nullish() });

/** More are counted. */
const MOST_NAMED = 10;

/**
 * Returns the note for what WhatsApp tells of a group's members: who left, was removed, or came; null for everything
 * else.
 */
function memberNote(
  { messageStubType: type, messageStubParameters: parameters, key }: WAMessage,
  known: NamingFacts,
): string | null {
  if (type !== ADDED && type !== REMOVED && type !== JOINED_BY_LINK && type !== LEFT) return null;
  const given: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
  const members = given.flatMap((one) => {
    const member = Member.safeParse(typeof one === 'string' ? jsonWithin(one) : null).data;
    return member === undefined ? [] : [member];
  });
  if (members.length === 0) return null;
  const person = (id: string, phoneNumber?: string | null) =>
    known.addresses.find(id) ?? phoneNumber ?? id;
  const affected = members.map(({ id, phoneNumber }) => person(id, phoneNumber));
  const actor = key.participant ? person(key.participant, key.participantAlt) : null;
  const isTheirOwn = actor === null || (affected.length === 1 && affected[0] === actor);
  const names = affected.slice(0, MOST_NAMED).map((one) => nameIn(one, known));
  const more = affected.length - names.length;
  const who = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  if (type === LEFT || (type === REMOVED && isTheirOwn)) return happenedNote(`${who} left`);
  if (type === REMOVED) return happenedNote(`${nameIn(actor ?? '', known)} removed ${who}`);
  if (isTheirOwn || type === JOINED_BY_LINK) return happenedNote(`${who} joined`);
  return happenedNote(`${nameIn(actor, known)} added ${who}`);
}

function nameIn(person: string, { self, assistantName, nameOf }: NamingFacts): string {
  if (person === self) return assistantName;
  const name = nameOf(person);
  return name === null ? (person.split('@', 1)[0] ?? '') : shortName(name);
}

type DirectSender = Pick<Reader, 'self' | 'nameOf'> & {
  readonly sender: string;
  readonly senderName: string | null;
};

function directName(
  jid: string,
  { self, nameOf, sender, senderName }: DirectSender,
): string | null {
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

/** Returns the note for what a message answers; null for none, or where nothing is known of it. */
function quotation({ quoted }: Content, answered: string | null, reader: Reader): string | null {
  if (quoted === null) return null;
  const person =
    quoted.sender === null ? null : (reader.addresses.find(quoted.sender) ?? quoted.sender);
  const name = person === null ? null : (reader.nameOf(person) ?? person.split('@', 1)[0] ?? '');
  return answerNote({
    from: answered === null ? name : reader.assistantName,
    words: quoted.text || (answered ?? ''),
    content: quoted.content,
    fileId: quoted.hasFile && /^[\w-]{1,100}$/.test(quoted.id) ? quoted.id : null,
  });
}
