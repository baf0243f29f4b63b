import type { Channel } from '../channels/channel.ts';
import type { PeopleOf } from './groups/chat-list.ts';

/** Finds the channel of a chat. */
export type ChannelOf = (jid: string) => Channel | undefined;

/** Finds channels by addresses of chats, and people by what the owner typed. */
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
