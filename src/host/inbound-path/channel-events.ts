import type {
  Channel,
  ChannelEvents,
  ChannelStatus,
  InboundMessage,
} from '../../channels/channel.ts';
import { takeChoice } from '../asking/answers.ts';
import type { Command } from '../contracts/command.ts';
import type { HostLog } from '../contracts/log.ts';
import type {
  ClockPort,
  IdPort,
  LogPort,
  ProjectPort,
  SettingsPort,
  StorePort,
} from '../contracts/ports.ts';
import { completeFolder } from '../groups/complete-folder.ts';
import { makeGroupFolder } from '../groups/group-folder.ts';
import { plainName } from '../groups/plain-name.ts';
import { openGroupCommit } from './group-commit.ts';
import { type Received, receive } from './receive.ts';

export type ChannelEventParts = StorePort &
  SettingsPort &
  ProjectPort & { readonly commands: readonly Command[] } & ClockPort &
  IdPort &
  LogPort & {
    /** Something new is stored: there may be turns to run and messages to send. */
    readonly onStored: (jids: ReadonlySet<string>) => void;
    /** A stranger may have written. */
    readonly onStranger: () => void;
    readonly tellOwner: (text: string) => void;
    /** A message came too late to be answered. */
    readonly onLate: () => void;
    readonly onStatus: (channel: Channel, status: ChannelStatus) => void;
    /** The channel may be able to send now. */
    readonly onReady: () => void;
  };

/**
 * Returns the channels' way to the host: each call resolves when its data is on disk, messages of all
 * channels together.
 */
export function channelEvents(parts: ChannelEventParts): (channel: Channel) => ChannelEvents {
  const storeTogether = openGroupCommit<Received>({
    ...parts,
    onStored: (received) => onReceived(parts, received),
  });
  return (channel) => eventsOf(parts, channel, storeTogether);
}

function eventsOf(
  parts: ChannelEventParts,
  channel: Channel,
  storeTogether: (work: () => Received) => Promise<Received>,
): ChannelEvents {
  const { store, now, log } = parts;
  return {
    onMessage: async (message) => {
      const received = await storeTogether(() =>
        receive(parts, channel, { ...message, jid: store.chats.current(message.jid) }),
      );
      logStored(log, channel, message, received);
      if (message.isLate) parts.onLate();
    },
    async onChat({ jid, isDirect, isOwners, ...chat }) {
      const name = plainName(chat.name);
      store.transaction(() => {
        store.chats.see({ jid, name, isDirect, channel: channel.name }, now());
        if (name !== null) store.groups.rename(jid, name);
        if (isOwners) store.groups.registerMain({ jid, name: name ?? channel.name }, now());
      });
    },
    async onSameChat(from, to) {
      const { group, leftFolder } = store.mergeChats(from, to);
      log.info('two chats were one', { channel: channel.name, group: group?.folder });
      if (group !== null && leftFolder !== null) {
        parts.tellOwner(
          `${group.name} was here as two chats and is one now, with groups/${group.folder}. groups/${leftFolder} stays on disk, and is not used any more.`,
        );
      }
      parts.onStored(new Set([to]));
    },
    async onStranger(sender) {
      store.strangers.count(channel.name, sender, now());
      parts.onStranger();
    },
    async onChoice(choice) {
      const jid = store.chats.current(choice.jid);
      const outcome = takeChoice(parts, { ...choice, jid });
      if (outcome === 'noted') parts.onStored(new Set([jid]));
      return outcome;
    },
    onStatus(status) {
      parts.onStatus(channel, status);
      parts.onReady();
    },
  };
}

/** Logs that a message came, never its text. */
function logStored(
  log: HostLog,
  { name }: Channel,
  { id, attachments = [] }: InboundMessage,
  { group }: Received,
): void {
  if (group === null) return;
  const data = { group: group.folder, channel: name, id, attachments: attachments.length };
  log.info('a message was stored', data);
}

function onReceived(parts: ChannelEventParts, received: readonly Received[]): void {
  const { projectDir, settings, log } = parts;
  const places = { projectDir, dataDir: settings.dataDir };
  for (const { group, isNewcomer } of received) {
    if (group === null || !isNewcomer) continue;
    completeFolder(log, group.folder, () => makeGroupFolder(places, group.folder));
  }
  if (received.some(({ whose }) => whose === 'stranger')) parts.onStranger();
  parts.onStored(new Set(received.map(({ jid }) => jid)));
}
