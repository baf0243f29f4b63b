import { z } from 'zod';
import type { Person } from '../../channels/channel.ts';
import { chatNames } from '../../lib/chat-names.ts';
import type { Chat, Group, Store } from '../../store/store.ts';
import { type FittingChat, SeveralFit } from './group-refused.ts';

/** The most unregistered chats with a number; the others are found by name. */
const MAX_KNOWN = 200;
const LISTED = 'groups.listed';
const ListedNames = z.array(z.string());

export type ChatList = {
  /** Each with the number that the owner can say instead of its name. */
  readonly groups: readonly (Group & { readonly number: number })[];
  readonly known: readonly (Chat & { readonly number: number })[];
  /** Names of the chats, by address. */
  readonly names: ReadonlyMap<string, string>;
};

/**
 * Lists the registered chats and the known ones, and keeps the numbers they got: until the next list
 * a number means the same chat, whatever is registered or seen in between.
 */
export function listChats(store: Store): ChatList {
  const all = store.groups.all();
  const groups = all.map((group, index) => ({ ...group, number: index + 1 }));
  const known = store.chats
    .unregistered(MAX_KNOWN)
    .map((chat, index) => ({ ...chat, number: groups.length + index + 1 }));
  store.meta.set(LISTED, JSON.stringify([...groups, ...known].map(({ jid }) => jid)));
  const channelOf = (jid: string) => store.chats.byJid(jid)?.channel ?? null;
  const names = chatNames([
    ...groups.map((group) => ({ ...group, channel: channelOf(group.jid) })),
    ...known,
  ]);
  return { groups, known, names };
}

/** Finds the people that the owner means by a typed text, such as a phone number: at most one for each channel. */
export type PeopleOf = (typed: string) => readonly (Person & { readonly channel: string })[];

/**
 * The chats to search. `registered` finds nothing if no registered chat fits; `reachable` also finds chats with
 * people who have never written.
 */
export type Among = 'registered' | 'known' | 'reachable';

/**
 * Returns the chat that a number of the last list, an address, a folder or a name means. A folder spelt exactly comes
 * before every name: the owner chose the folder, while members choose a chat's name. A person's address means their
 * own chat with the assistant.
 *
 * @returns null when there is none
 * @throws SeveralFit when more than one fits, registered or not
 */
export function findChat(
  { store, peopleOf }: { readonly store: Store; readonly peopleOf: PeopleOf },
  typed: string,
  among: Among,
): Chat | null {
  const wanted = typed.trim();
  const named = fittingChats(store, wanted);
  const found = named.length > 0 ? named : chatsOfPeople(store, peopleOf(wanted), among);
  const isMeant =
    among !== 'registered' || found.some(({ jid }) => store.groups.byJid(jid) !== null);
  if (found.length > 1 && isMeant) {
    throw new SeveralFit(
      wanted,
      found.map((chat) => ({ ...chat, ...placeOf(store, chat.jid) })),
    );
  }
  return isMeant ? (found[0] ?? null) : null;
}

function fittingChats(store: Store, wanted: string): readonly Chat[] {
  const addressed = store.chats.byJid(wanted);
  if (addressed !== null) return [addressed];
  const inFolder = chatOfFolder(store, wanted);
  const isFolder = inFolder !== null && wanted === wanted.toLowerCase();
  const listed = chatOfNumber(store, wanted);
  if (listed !== null) return distinct([listed, isFolder ? inFolder : null]);
  return distinct(isFolder ? [inFolder] : [...chatsNamed(store, wanted), inFolder]);
}

function distinct(chats: readonly (Chat | null)[]): readonly Chat[] {
  const present = chats.filter((chat) => chat !== null);
  return [...new Map(present.map((chat) => [chat.jid, chat])).values()];
}

function placeOf(store: Store, jid: string): Pick<FittingChat, 'folder' | 'isRegistered'> {
  const group = store.groups.byJid(jid);
  return { folder: group?.folder ?? store.folders.of(jid), isRegistered: group !== null };
}

function chatOfNumber(store: Store, wanted: string): Chat | null {
  const jid = /^\d{1,4}$/.test(wanted) ? numbered(store)[Number(wanted) - 1] : undefined;
  return jid === undefined ? null : store.chats.byJid(jid);
}

function numbered(store: Store): readonly string[] {
  const kept = store.meta.get(LISTED);
  const listed = kept === null ? null : (ListedNames.safeParse(JSON.parse(kept)).data ?? null);
  return listed ?? store.groups.all().map(({ jid }) => jid);
}

function chatsNamed(store: Store, wanted: string): readonly (Chat | null)[] {
  const name = wanted.toLowerCase();
  const isCalled = (chat: Pick<Chat, 'name'>): boolean => chat.name?.trim().toLowerCase() === name;
  const registered = store.groups.all().filter(isCalled);
  const others = store.chats.unregistered(Number.MAX_SAFE_INTEGER).filter(isCalled);
  return [...registered.map(({ jid }) => store.chats.byJid(jid)), ...others];
}

/** Returns the chat of a folder; one that was unregistered goes on by the name of the folder that it left. */
function chatOfFolder(store: Store, wanted: string): Chat | null {
  const jid = store.groups.byFolder(wanted)?.jid ?? store.folders.holder(wanted);
  return jid === null ? null : store.chats.byJid(jid);
}

/** Returns the chats of people with the assistant: those that are known, or else, if asked for, those that they would have. */
function chatsOfPeople(store: Store, people: ReturnType<PeopleOf>, among: Among): readonly Chat[] {
  const known = people.map(({ channel, sender, chat }) =>
    chat === null ? store.chats.directWith(channel, sender) : store.chats.byJid(chat),
  );
  const found = distinct(known);
  if (found.length > 0 || among !== 'reachable') return found;
  return people.flatMap(({ channel, chat, isGuess }) =>
    chat === null || isGuess === true ? [] : [{ jid: chat, channel, name: null, isDirect: true }],
  );
}
