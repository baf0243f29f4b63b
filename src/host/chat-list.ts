import { z } from 'zod';
import type { Chat, Group, Store } from '../store/store.ts';
import { GroupRefused } from './group-refused.ts';

/** How many unregistered chats are numbered; the others are found by name. */
const MAX_KNOWN = 200;
const LISTED = 'groups.listed';
const Listed = z.array(z.string());

export type ChatList = {
  /** Each with the number that the owner can say instead of its name. */
  readonly groups: readonly (Group & { readonly number: number })[];
  readonly known: readonly (Chat & { readonly number: number })[];
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
  return { groups, known };
}

/** Turns what the owner typed, such as a phone number, into the address that a channel knows. */
export type AddressOf = (
  typed: string,
) => { readonly channel: string; readonly jid: string } | null;

/**
 * The chat that is meant by a number of the last list, an address, a name or a folder.
 *
 * @param among whether a registered chat is meant, or one that is to be registered, where both have that name
 * @returns null when there is none
 * @throws GroupRefused when several have that name
 */
export function findChat(
  { store, addressOf }: { readonly store: Store; readonly addressOf: AddressOf },
  typed: string,
  among: 'registered' | 'known',
): Chat | null {
  const wanted = typed.trim();
  const byNumber = /^\d{1,4}$/.test(wanted) ? numbered(store)[Number(wanted) - 1] : undefined;
  const found =
    store.chats.byJid(byNumber ?? wanted) ??
    (among === 'known' ? knownNamed(store, wanted) : null) ??
    registeredNamed(store, wanted);
  if (among === 'registered') {
    return found !== null && store.groups.byJid(found.jid) !== null ? found : null;
  }
  return found ?? formerChat(store, wanted) ?? addressedChat(store, addressOf, wanted);
}

function numbered(store: Store): readonly string[] {
  const kept = store.meta.get(LISTED);
  const listed = kept === null ? null : (Listed.safeParse(JSON.parse(kept)).data ?? null);
  return listed ?? store.groups.all().map(({ jid }) => jid);
}

function registeredNamed(store: Store, wanted: string): Chat | null {
  const jid =
    store.groups.byFolder(wanted)?.jid ?? onlyNamed(store.groups.all(), wanted)?.jid ?? null;
  return jid === null ? null : store.chats.byJid(jid);
}

function knownNamed(store: Store, wanted: string): Chat | null {
  return onlyNamed(store.chats.unregistered(Number.MAX_SAFE_INTEGER), wanted);
}

function onlyNamed<T extends { readonly name: string | null }>(
  chats: readonly T[],
  wanted: string,
): T | null {
  const name = wanted.toLowerCase();
  const found = chats.filter((chat) => chat.name?.trim().toLowerCase() === name);
  const [only, another] = found;
  if (another !== undefined) {
    throw new GroupRefused(
      `Several chats are called ${wanted}. Say \`/groups\`, and then the number instead of the name.`,
    );
  }
  return only ?? null;
}

/** A chat that was unregistered goes on by the name of the folder that it left. */
function formerChat(store: Store, wanted: string): Chat | null {
  const jid = store.folders.holder(wanted);
  return jid === null ? null : store.chats.byJid(jid);
}

/** Somebody who has never written can be named by their number, where the channel knows numbers. */
function addressedChat(store: Store, addressOf: AddressOf, wanted: string): Chat | null {
  const address = /^[+(]?\d[\d\s()./-]{4,}$/.test(wanted) ? addressOf(wanted) : null;
  if (address === null) return null;
  return store.chats.byJid(address.jid) ?? { ...address, name: null, isDirect: true };
}
