import type { Channel, Person } from '../channels/channel.ts';
import type { PeopleOf } from './groups/chat-list.ts';
import { GroupRefused } from './groups/group-refused.ts';

/** Finds the channel of a chat. */
export type ChannelOf = (jid: string) => Channel | undefined;

/** Finds channels by the addresses of chats, and people by what the owner typed. */
export type AddressBook = { readonly channelOf: ChannelOf; readonly peopleOf: PeopleOf };

/** Opens the address book of these channels. */
export function openAddressBook(channels: readonly Channel[]): AddressBook {
  return {
    channelOf: (jid) => channels.find((channel) => channel.ownsJid(jid)),
    peopleOf: (typed) =>
      channels.flatMap((channel) => {
        const person = channel.personOf?.(typed) ?? null;
        return person === null ? [] : [{ ...person, channel: channel.name }];
      }),
  };
}

/** The functions of a channel that read an address typed by the owner. */
export type AddressReader = {
  readonly name: string;
  /** Null for a channel that cannot tell an address from other texts. */
  readonly personOf: ((typed: string) => Person | null) | null;
  readonly missingIn: (typed: string) => string | null;
};

/** Returns what reads addresses of a channel. */
export function addressReaderOf(channel: Channel): AddressReader {
  return {
    name: channel.name,
    personOf: channel.personOf === undefined ? null : (typed) => channel.personOf?.(typed) ?? null,
    missingIn: (typed) => channel.missingIn?.(typed) ?? null,
  };
}

/**
 * Returns the address of the person that the owner means, as it is with their messages.
 *
 * @throws GroupRefused where it is nobody's, or could be several people's; the message says what to type
 */
export function senderOn({ name, personOf, missingIn }: AddressReader, typed: string): string {
  const person = personOf?.(typed) ?? null;
  if (person !== null && person.isGuess !== true) return person.sender;
  if (personOf === null && /^\S*\d\S*$/.test(typed)) return typed;
  throw new GroupRefused(missingIn(typed) ?? `${typed} is not a number or address on ${name}.`);
}
