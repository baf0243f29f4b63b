import type { Channel } from '../channels/channel.ts';
import type { AddressOf } from './groups/chat-list.ts';

/** Finds the channel of a chat. */
export type ChannelOf = (jid: string) => Channel | undefined;

/** Finds channels by the addresses that they know. */
export type AddressBook = { readonly channelOf: ChannelOf; readonly addressOf: AddressOf };

/** Opens the address book of these channels; each address belongs to the first that knows it. */
export function openAddressBook(channels: readonly Channel[]): AddressBook {
  return {
    channelOf: (jid) => channels.find((channel) => channel.ownsJid(jid)),
    addressOf(typed) {
      for (const channel of channels) {
        const jid = channel.addressOf?.(typed) ?? null;
        if (jid !== null) return { channel: channel.name, jid };
      }
      return null;
    },
  };
}
