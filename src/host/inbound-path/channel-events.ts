import type {
  Channel,
  ChannelEvents,
  ChannelStatus,
  Frame,
  InboundMessage,
} from '../../channels/channel.ts';
import type { Loopback } from '../../http/route.ts';
import type { KeptReaction, Result, Store } from '../../store/store.ts';
import { takeChoice, takeReaction } from '../asking/answers.ts';
import type { OwnerFiles } from '../attachments/owner-files.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { Command } from '../contracts/command.ts';
import type { HostLog } from '../contracts/log.ts';
import type {
  ClockPort,
  IdPort,
  LogPort,
  ProjectPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
  TimerPort,
} from '../contracts/ports.ts';
import { completeFolder, makeGroupFolder } from '../groups/group-folder.ts';
import { plainName } from '../groups/plain-name.ts';
import { type Filtering, openFiltering } from './filtering.ts';
import type { InboundFilters } from './filters.ts';
import { queueAnswered } from './queue-turn.ts';
import { admit, type Received, receive } from './receive.ts';

export type ChannelEventParts = StorePort &
  SettingsPort &
  ProjectPort & { readonly commands: readonly Command[] } & ClockPort &
  IdPort &
  TimerPort &
  TimeoutsPort &
  LogPort & {
    readonly filters: InboundFilters;
    readonly budgets: Pick<Budgets, 'pay'>;
    readonly channelOf: (jid: string) => Channel | undefined;
    readonly ownerFiles: Pick<OwnerFiles, 'copyOf'>;
    readonly http: Pick<Loopback, 'route'>;
    /** Aborted when nothing comes in any more. */
    readonly stopped: AbortSignal;
    /** Something new is stored: there may be turns to run and messages to send. */
    readonly onStored: (jids: ReadonlySet<string>) => void;
    /** A stranger may have written. */
    readonly onStranger: () => void;
    readonly tellOwner: (text: string) => void;
    /** A person has put an emoji on a message of the assistant's, or taken it away. */
    readonly onReaction: (reaction: KeptReaction) => void;
    /** A frame has come; true where a service takes it. */
    readonly onFrame: (frame: Frame) => boolean;
    /** A message came too late to be answered. */
    readonly onLate: () => void;
    readonly onStatus: (channel: Channel, status: ChannelStatus) => void;
    /** The channel may be able to send now. */
    readonly onReady: () => void;
  };

/** The events of all channels, on their way to the host. */
export interface AllChannelEvents extends Pick<Filtering, 'start' | 'stop'> {
  /** Each call of an event resolves when its data is on disk, messages of all channels together. */
  eventsOf(channel: Channel): ChannelEvents;
}

/** Opens the way in: through the inbound filters, into the store. */
export function openChannelEvents(parts: ChannelEventParts): AllChannelEvents {
  const { store, log } = parts;
  const storeTogether = openGroupCommit<Received>({
    ...parts,
    onStored(received) {
      onReceived(parts, received);
      filtering.wake(received.filter(({ isHeld }) => isHeld).map(({ jid }) => jid));
    },
  });
  const filtering = openFiltering({
    ...parts,
    async release({ seq }, message, outcome) {
      const received = await storeTogether(() => {
        const jid = store.heldMessages.take(seq);
        const group = jid === null ? null : store.groups.byJid(jid);
        if (group === null) return { jid: message.jid, whose: 'unheard', group, isNewcomer: false };
        admit(parts, group, { ...message, jid: group.jid }, outcome);
        return { jid: group.jid, whose: 'group', group, isNewcomer: false };
      });
      if (outcome.kind === 'dropped') {
        const { filter, reason } = outcome;
        log.info('a message was dropped', { filter, reason, id: message.id });
      } else {
        logStored(log, parts.channelOf(message.jid)?.name ?? null, message, received);
      }
      if (message.isLate) parts.onLate();
    },
  });
  return {
    eventsOf: (channel) => eventsOf(parts, channel, { storeTogether, filtering }),
    start: filtering.start,
    stop: filtering.stop,
  };
}

/** The event loop sees to its other work after this many. */
const MOST_AT_ONCE = 500;

type WaitingWork<T> = {
  readonly work: () => T;
  readonly report: (result: Result<T>) => void;
};

type GroupCommitOptions<T> = {
  readonly store: Pick<Store, 'batch'>;
  /**
   * Called with what was stored together, before any caller learns of it. What it throws is told
   * instead to those who wait: they hand the same over again.
   */
  readonly onStored: (values: readonly T[]) => void;
};

/**
 * Stores what arrives together with one commit. Each promise resolves when its own work is on disk, and
 * rejects with its own error; the order of the calls is the order in the store.
 *
 * What arrives in one turn of the event loop, or while the disk was busy with those before, is together.
 * It uses no timer: work that comes alone is written at once.
 */
export function openGroupCommit<T>(options: GroupCommitOptions<T>): (work: () => T) => Promise<T> {
  const { store, onStored } = options;
  let waiting: WaitingWork<T>[] = [];

  function commit(): void {
    const batch = waiting.slice(0, MOST_AT_ONCE);
    waiting = waiting.slice(MOST_AT_ONCE);
    if (waiting.length > 0) setImmediate(commit);
    const results = storeAll(batch.map(({ work }) => work));
    for (const [at, result] of results.entries()) batch[at]?.report(result);
  }

  function storeAll(works: readonly (() => T)[]): readonly Result<T>[] {
    try {
      const results = store.batch(works);
      const values = results.flatMap((it) => (it.kind === 'done' ? [it.value] : []));
      if (values.length > 0) onStored(values);
      return results;
    } catch (error) {
      return works.map(() => ({ kind: 'failed', error }));
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit);
      const report = (it: Result<T>) => (it.kind === 'done' ? resolve(it.value) : reject(it.error));
      waiting.push({ work, report });
    });
}

type InboundWay = {
  readonly storeTogether: (work: () => Received) => Promise<Received>;
  readonly filtering: Filtering;
};

function eventsOf(
  parts: ChannelEventParts,
  channel: Channel,
  { storeTogether, filtering }: InboundWay,
): ChannelEvents {
  const { store, now, log } = parts;
  return {
    onMessage: async (message) => {
      const received = await storeTogether(() => {
        const current = { ...message, jid: store.chats.current(message.jid) };
        return receive(parts, channel, current, filtering);
      });
      if (received.isHeld) log.info('a message waits for its filters', { id: message.id });
      else logStored(log, channel.name, message, received);
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
    async onSameChat(from, to, how) {
      const { group, leftFolder } = store.mergeChats(from, to, how);
      log.info('two chats were one', { channel: channel.name, group: group?.folder });
      if (group !== null && leftFolder !== null) {
        parts.tellOwner(
          `${group.name} was here as two chats and is one now, with groups/${group.folder}. groups/${leftFolder} stays on disk, and is not used any more.`,
        );
      }
      parts.onStored(new Set([to]));
      filtering.wake([to]);
    },
    async onStranger(sender) {
      store.strangers.count(channel.name, sender, now());
      parts.onStranger();
    },
    async onChoice(choice) {
      const jid = store.chats.current(choice.jid);
      const group = store.groups.byJid(jid);
      if (group === null) return 'closed';
      const outcome = takeChoice(parts, { ...choice, jid }, (seq, after) =>
        queueAnswered(parts, group, seq, after),
      );
      if (outcome === 'noted') parts.onStored(new Set([jid]));
      return outcome;
    },
    async onReaction(reaction) {
      const jid = store.chats.current(reaction.jid);
      const group = store.groups.byJid(jid);
      if (group === null) return 'ignored';
      const here = { ...reaction, jid };
      const answered = takeReaction(parts, here, (seq, after) =>
        queueAnswered(parts, group, seq, after),
      );
      if (answered === 'answered') parts.onStored(new Set([jid]));
      if (answered !== null) return answered;
      if (!here.isOwner && !store.senders.mayCall(jid, here.sender)) return 'ignored';
      const kept = store.reactions.note(here, now());
      if (kept === null) return 'ignored';
      parts.onReaction(kept);
      return 'kept';
    },
    onFrame: parts.onFrame,
    async route(route) {
      parts.stopped.throwIfAborted();
      const { url, remove } = await parts.http.route(channel.name, route);
      if (parts.stopped.aborted) remove();
      else parts.stopped.addEventListener('abort', remove, { once: true });
      return { url };
    },
    onNotice: parts.tellOwner,
    onStatus(status) {
      parts.onStatus(channel, status);
      parts.onReady();
    },
  };
}

/** Logs that a message came, never its text. */
function logStored(
  log: HostLog,
  channel: string | null,
  { id, attachments = [] }: InboundMessage,
  { group }: Received,
): void {
  if (group === null) return;
  const data = { group: group.folder, channel, id, attachments: attachments.length };
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
