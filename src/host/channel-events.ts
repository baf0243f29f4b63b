import type { Channel, ChannelEvents, ChannelStatus, InboundMessage } from '../channels/channel.ts';
import type { HostOptions } from './options.ts';
import { plainName } from './plain-name.ts';
import { receive } from './receive.ts';

export type ChannelEventParts = Pick<
  HostOptions,
  'store' | 'settings' | 'projectDir' | 'now' | 'newId' | 'log'
> & {
  /** Something new is stored: there may be turns to run and messages to send. */
  readonly onStored: (jid: string) => void;
  /** Somebody may have written who may not. */
  readonly onStranger: () => void;
  /** A message came too late to be answered. */
  readonly onLate: () => void;
  readonly onStatus: (channel: Channel, status: ChannelStatus) => void;
  /** The channel may be able to send now. */
  readonly onReady: () => void;
};

/** What a channel tells the host: each resolves when it is on disk. */
export function channelEvents(parts: ChannelEventParts, channel: Channel): ChannelEvents {
  const { store, now } = parts;
  return {
    async onMessage(message) {
      const whose = receive(parts, channel, message);
      if (whose === 'stranger') parts.onStranger();
      if (whose === 'group') logStored(parts, channel, message);
      if (message.isLate) parts.onLate();
      parts.onStored(message.jid);
    },
    async onChat({ jid, isDirect, isOwners, ...chat }) {
      const name = plainName(chat.name);
      store.transaction(() => {
        store.chats.see({ jid, name, isDirect, channel: channel.name }, now());
        if (name !== null) store.groups.rename(jid, name);
        if (isOwners) store.groups.registerMain({ jid, name: name ?? channel.name }, now());
      });
    },
    async onStranger(sender) {
      store.strangers.count(channel.name, sender, now());
      parts.onStranger();
    },
    onStatus(status) {
      parts.onStatus(channel, status);
      parts.onReady();
    },
  };
}

/** That something came, and never what. */
function logStored({ store, log }: ChannelEventParts, { name }: Channel, message: InboundMessage) {
  const { jid, id, attachments = [] } = message;
  const group = store.groups.byJid(jid)?.folder;
  log.info('a message was stored', { group, channel: name, id, attachments: attachments.length });
}
