import { z } from 'zod';
import type { InboundMessage } from '../../channels/channel.ts';
import type { Meta } from '../../store/meta.ts';
import type { Group, Store, Turn } from '../../store/store.ts';
import type { AskedAbout } from '../asking/asking.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';

const KEY = 'private-answers';
const Folders = z.array(z.string().max(200)).max(10_000);

/** Returns the folders of the groups in which every answer is private. */
export function privateGroups(meta: Pick<Meta, 'get'>): readonly string[] {
  return parsePrivateGroups(meta.get(KEY)) ?? [];
}

/** Reads the row of these groups; null where it cannot be read. */
export function parsePrivateGroups(kept: string | null): readonly string[] | null {
  if (kept === null) return [];
  try {
    return Folders.safeParse(JSON.parse(kept)).data ?? null;
  } catch {
    return null; // It is no JSON: the next change writes it anew.
  }
}

/** Has every answer in a group be private, or only those that are asked for. */
export function setPrivateGroup(
  { meta, groups }: Pick<Store, 'meta' | 'groups'>,
  folder: string,
  isPrivate: boolean,
): void {
  // A folder may be another group's one day.
  const others = privateGroups(meta).filter(
    (other) => other !== folder && groups.byFolder(other) !== null,
  );
  meta.set(KEY, JSON.stringify(isPrivate ? [...others, folder] : others));
}

const WORD = /(?:^|\s)\/private(?=$|[\s.,:;!?])/iu;
const PHRASES: readonly RegExp[] = [
  /\b(?:answer|reply|respond|tell|write|send|message)\b[^.!?\n]{0,40}\b(?:in private|privately|in a (?:direct|private) message|by (?:dm|pm))\b/iu,
  /\bin private,? please\b/iu,
  /\b(?:antworte|sag|schreib|schick)\w*\b[^.!?\n]{0,40}\b(?:privat|per direktnachricht)\b/iu,
];

/** Tells whether words ask for an answer in private: `/private`, or “answer me in private” and the like. */
export function asksInPrivate(words: string): boolean {
  return WORD.test(words) || PHRASES.some((phrase) => phrase.test(words));
}

/**
 * Returns the chat in which a person of a group is answered in private; null where there is none. It is registered, it
 * is on the group's channel, and nobody but this person and the owner has ever written there. The owner's is one of
 * their own.
 */
export function directChatOf(
  store: Store,
  { jid, sender, isOwner }: Pick<InboundMessage, 'jid' | 'sender' | 'isOwner'>,
): Group | null {
  const channel = store.chats.byJid(jid)?.channel;
  const isHere = (chat: Group) => store.chats.byJid(chat.jid)?.channel === channel;
  if (isOwner) return store.groups.mains().find(isHere) ?? store.groups.main();
  const isTheirs = (chat: Group): boolean => {
    if (chat.isMain || store.chats.byJid(chat.jid)?.isDirect !== true || !isHere(chat))
      return false;
    const said = store.messages.between(
      { jid: chat.jid, from: 0, upto: Number.MAX_SAFE_INTEGER },
      1_000,
    );
    const others = said.filter((message) => !message.isOwner);
    return others.length > 0 && others.every((message) => message.sender === sender);
  };
  const chat = store.groups.all().find(isTheirs) ?? null;
  return chat !== null && store.senders.mayCall(chat.jid, sender) ? chat : null;
}

export type AskedInGroup = {
  readonly group: Group;
  readonly message: InboundMessage;
  /** As the filters left it. */
  readonly text: string;
  readonly turn: { readonly id: string; readonly jid: string; readonly seq: number };
};

/**
 * Queues the turn of a question that is to be answered in private, and says so in the group, or says there why it
 * cannot be. False for any other question. Belongs into a transaction.
 */
export function queuePrivately(
  { store, now, newId }: StorePort & ClockPort & IdPort,
  { group, message, text, turn }: AskedInGroup,
): boolean {
  if (group.isMain || message.isDirect) return false;
  const isAsked = asksInPrivate(message.text) || asksInPrivate(text);
  if (!isAsked && !privateGroups(store.meta).includes(group.folder)) return false;
  const chat = directChatOf(store, message);
  if (chat !== null) store.turns.queueAgent({ ...turn, privateTo: chat.jid }, now());
  const said =
    chat === null
      ? 'I cannot answer this in private: we have no chat of our own. Write to me directly first, then ask again.'
      : 'I answer this in private.';
  store.outbox.add({ messageId: newId(), jid: group.jid, text: said, replyTo: message.id }, now());
  return true;
}

/** Puts a question for the person who asked in private to them there; every other question stays where it is. */
export function askedInPrivate(
  store: Store,
  turn: Pick<Turn, 'id' | 'jid' | 'uptoSeq'>,
  to: AskedAbout['to'],
): AskedAbout['to'] {
  const chat = store.turns.privateChat(turn.id);
  if (chat === null || to === 'owner' || to.jid !== turn.jid) return to;
  const asker = store.messages.bySeq(turn.uptoSeq)?.sender;
  return to.sender === null || to.sender === asker ? { ...to, jid: chat } : to;
}
