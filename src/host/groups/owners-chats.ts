import type { Group } from '../../store/store.ts';
import type { ChannelsPort, ClockPort, MainChatPort, StorePort } from '../contracts/ports.ts';

/** Makes the terminal one of the owner's own chats, even if no person is at it. */
export function registerTerminal({
  store,
  mainChat: { jid, name },
  now,
}: StorePort & MainChatPort & ClockPort): void {
  const channel = jid.split(':', 1)[0] ?? jid;
  store.transaction(() => {
    store.chats.see({ jid, channel, name, isDirect: true }, now());
    store.groups.registerMain({ jid, name }, now());
  });
}

/**
 * Finds out which of the owner's own chats can be reached. A service has no terminal, even if the owner last wrote
 * there.
 */
export function updateReachability({ store, channels }: StorePort & ChannelsPort): void {
  for (const { jid } of store.groups.mains()) {
    store.groups.setAway(jid, !channels.some((channel) => channel.ownsJid(jid)));
  }
}

/** Returns the owner's own chats on the channels there are, the one they last wrote in first. */
export function ownersChats({ store, channels }: StorePort & ChannelsPort): readonly Group[] {
  return store.groups.mains().filter(({ jid }) => channels.some((channel) => channel.ownsJid(jid)));
}
