import type { Channel, ChannelStatus, ChoiceOutcome, Frame } from '../../channels/channel.ts';
import type { Loopback } from '../../http/route.ts';
import { PRESS } from '../../store/messages/messages.ts';
import type { KeptReaction } from '../../store/store.ts';
import type { OwnerFile, OwnerFiles } from '../attachments/owner-files.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { Command } from '../contracts/command.ts';
import type { Ports } from '../contracts/ports.ts';
import type { Outgoing } from '../outbound/outgoing.ts';
import { openChannelEvents } from './channel-events.ts';
import { openChannelWatch } from './channel-watch.ts';
import type { InboundFilters } from './filters.ts';
import { openLateDigest, openStrangerDigest } from './owner-digests.ts';

/** The channels' way to the host, and what the owner is told about them. */
export interface Inbound {
  /** Connects all channels; resolves when each has reported its state, or has taken too long. */
  connect(): Promise<void>;
  /**
   * Stores what the owner says in a registered chat elsewhere than on its channel, as a message of theirs. A file goes
   * the way of a channel's attachment.
   *
   * @returns the id of the message
   * @throws Error, in words, where there is no such chat, or the file is empty or too large
   */
  ownerSays(
    jid: string,
    text: string,
    file?: OwnerFile,
    how?: { readonly isTalk: boolean },
  ): Promise<string>;
  /** Takes the owner's answer to a question, as a press of a button. */
  ownerAnswers(jid: string, question: string, word: string): Promise<ChoiceOutcome>;
  stop(): void;
}

export type InboundOptions = {
  readonly ports: Ports;
  readonly commands: readonly Command[];
  readonly filters: InboundFilters;
  readonly budgets: Pick<Budgets, 'pay'>;
  readonly channelOf: (jid: string) => Channel | undefined;
  readonly ownerFiles: OwnerFiles;
  readonly http: Pick<Loopback, 'route'>;
  readonly outgoing: Outgoing;
  /** Something new is stored in these chats: there may be turns to run and messages to send. */
  readonly onStored: (jids: ReadonlySet<string>) => void;
  /** A reaction to a message of the assistant's was kept. */
  readonly onReaction: (reaction: KeptReaction) => void;
  /** A frame has come; true where a service takes it. */
  readonly onFrame: (frame: Frame) => boolean;
  readonly onLink: (channel: string, isConnected: boolean) => void;
  readonly onStatus: (channel: string, status: ChannelStatus) => void;
  /** A message waits in the outbox, or a channel may be able to send one now. */
  readonly onSendable: () => void;
};

/** Opens the channels' way to the host; none is connected yet. */
export function openInbound({ ports, ...parts }: InboundOptions): Inbound {
  const { store, channels, timeouts, now, newId } = ports;
  const { outgoing, onSendable } = parts;
  const toOwner = { queue: outgoing.queueForOwner, onQueued: onSendable };
  const strangers = openStrangerDigest({ ...ports, ...toOwner });
  const late = openLateDigest({ ...ports, ...toOwner });
  const watch = openChannelWatch({ ...ports, say: outgoing.say });
  const stopping = new AbortController();
  const events = openChannelEvents({
    ...ports,
    ...parts,
    stopped: stopping.signal,
    tellOwner: outgoing.tellOwner,
    onStranger: strangers.wake,
    onLate: late.wake,
    onStatus(channel, status) {
      watch.note(channel, status);
      parts.onLink(channel.name, status.state === 'connected');
      parts.onStatus(channel.name, status);
    },
    onReady: onSendable,
  });

  async function connectOne(channel: Channel): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeouts.connectTimeoutMs);
    await Promise.race([channel.connect(events.eventsOf(channel)), isLate]);
    clearTimeout(timer);
    onSendable();
  }

  /** The owner, whom the channels of their chats vouch for, at another place. */
  const OWNER = { sender: 'owner', isOwner: true } as const;

  function eventsAt(jid: string) {
    const channel = parts.channelOf(jid);
    const chat = store.chats.byJid(jid);
    const group = chat === null ? null : store.groups.byJid(chat.jid);
    if (channel === undefined || chat === null || group === null) {
      throw new Error(`No registered chat that can be reached has the address ${jid}.`);
    }
    return { chat, group, events: events.eventsOf(channel) };
  }

  return {
    async ownerSays(jid, text, file, { isTalk } = { isTalk: false }) {
      const { chat, group, events: at } = eventsAt(jid);
      // The channel has no such message: nothing it shows can quote it.
      const id = `${PRESS}${newId()}`;
      const attachments = file === undefined ? [] : [parts.ownerFiles.keep(group.folder, id, file)];
      try {
        await at.onMessage({
          ...OWNER,
          id,
          jid: chat.jid,
          chatName: chat.name,
          isDirect: chat.isDirect,
          senderName: null,
          mentionsAssistant: true,
          text,
          ...(isTalk ? { isTalk } : {}),
          attachments,
          sentAt: now(),
        });
      } catch (error) {
        parts.ownerFiles.drop(group.folder, id);
        throw error;
      }
      return id;
    },
    async ownerAnswers(jid, question, word) {
      const { chat, events: at } = eventsAt(jid);
      return (await at.onChoice?.({ ...OWNER, jid: chat.jid, question, word })) ?? 'closed';
    },
    async connect() {
      await Promise.all(channels.map(connectOne));
      events.start();
      strangers.wake();
      late.wake();
    },
    stop() {
      stopping.abort();
      events.stop();
      strangers.stop();
      late.stop();
      watch.stop();
    },
  };
}
