import { rmSync } from 'node:fs';
import { z } from 'zod';
import type { Channel, FetchedAttachment, InboundMessage } from '../../channels/channel.ts';
import type { Group, HeldMessage } from '../../store/store.ts';
import type { OwnerFiles } from '../attachments/owner-files.ts';
import type { Budgets, PaidWork } from '../budget/budgets.ts';
import type { FilteredMessage } from '../contracts/inbound-filter.ts';
import type { ClockPort, LogPort, StorePort, TimeoutsPort, TimerPort } from '../contracts/ports.ts';
import type { FilterOutcome, InboundFilters } from './filters.ts';
import { wordsWithNotes } from './shown-message.ts';

/** An outcome with which a message's way through the filters has ended. */
export type FilterEnd = Exclude<FilterOutcome, { readonly kind: 'failed' }>;

/** A message with the name of its channel. */
type ChannelMessage = { readonly channel: string; readonly message: InboundMessage };

/** Lets messages through the inbound filters. */
export interface Filtering {
  /**
   * Asks the filters about a message of a group. Belongs into the transaction that would store it.
   *
   * @returns the outcome, or null where the message is kept until there is one
   */
  begin(source: ChannelMessage, group: Group): FilterEnd | null;
  /** Begins with what an earlier process left, after the channels can fetch files. */
  start(): void;
  /** Something of these chats was kept, and is on disk now. */
  wake(jids: readonly string[]): void;
  /** Nothing is written from here on; what waits is begun again at the next start. */
  stop(): void;
}

export type FilteringParts = StorePort &
  ClockPort &
  TimerPort &
  TimeoutsPort &
  LogPort & {
    readonly filters: InboundFilters;
    readonly budgets: Pick<Budgets, 'pay'>;
    readonly channelOf: (jid: string) => Channel | undefined;
    readonly ownerFiles: Pick<OwnerFiles, 'copyOf'>;
    /** Makes a message that waited part of its chat, and takes it out of those that wait. */
    readonly release: (
      held: HeldMessage,
      message: InboundMessage,
      outcome: FilterEnd,
    ) => Promise<void>;
    readonly tellOwner: (text: string) => void;
  };

const LONGEST_PAUSE_MS = 300_000;

/**
 * Opens the way through the filters. Where all of them answer at once, it is a call and nothing more. Where
 * one has to wait, the message is kept on disk, and the later ones of its chat behind it: one after the
 * other in a chat, several chats side by side.
 */
export function openFiltering(parts: FilteringParts): Filtering {
  const { store, filters, log, now, setTimer, timeouts } = parts;
  const stopping = new AbortController();
  /** Chats in which messages wait. After a transaction that failed it may be one too many. */
  const busy = new Set(store.heldMessages.chats());
  const working = new Set<string>();
  /** By chat, the outcome of the one message that was kept while its filters were at work already. */
  const begun = new Map<
    string,
    { readonly id: string; readonly outcome: Promise<FilterOutcome> }
  >();
  const told = new Set<string>();
  const pauses = new Set<() => void>();

  function applied(source: ChannelMessage, group: Group): FilterOutcome | Promise<FilterOutcome> {
    const fetched: FetchedAttachment[] = [];
    let hasEnded = false;
    const { jid, id } = source.message;
    const clear = (): void => {
      for (const { path } of fetched.splice(0)) rmSync(path, { force: true });
    };
    const noted = (file: FetchedAttachment): FetchedAttachment => {
      fetched.push(file);
      // It may come after the filter’s time is over.
      if (hasEnded) clear();
      return file;
    };
    const fetchAttachment = async (): Promise<FetchedAttachment> => {
      const own = await parts.ownerFiles.copyOf(group.folder, id);
      if (own !== null) {
        const file = { ...own, name: source.message.attachments?.at(0)?.name ?? null };
        return noted(file);
      }
      const channel = parts.channelOf(jid);
      if (channel?.fetchAttachment === undefined) throw new Error('It came with no file.');
      return noted(await channel.fetchAttachment(jid, id));
    };
    const end = (): void => {
      hasEnded = true;
      clear();
    };
    const pay = (work: PaidWork) => parts.budgets.pay(group.folder, work);
    const means = { fetchAttachment, pay, setTimer, signal: stopping.signal };
    const outcome = filters.apply(seenBy(source, group), means);
    if (outcome instanceof Promise) return outcome.finally(end);
    end();
    return outcome;
  }

  function keep(source: ChannelMessage, outcome: Promise<FilterOutcome> | null): null {
    const { jid, id } = source.message;
    if (store.messages.has(jid, id)) return null;
    store.heldMessages.add(heldOf(source), now());
    busy.add(jid);
    if (outcome !== null) begun.set(jid, { id, outcome });
    return null;
  }

  /** Works on the messages of a chat that wait, until none does. */
  async function work(jid: string): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const held = store.heldMessages.next(jid);
        if (held === null) break;
        failures = (await goOnWith(held)) ? 0 : failures + 1;
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures += 1;
        log.error('a message waits on', { error: String(error) });
      }
      if (failures > 0) await pause(timeouts.retryMs * 2 ** Math.min(failures - 1, 16));
    }
    working.delete(jid);
    busy.delete(jid);
    begun.delete(jid);
  }

  /** @returns whether the message is done with */
  async function goOnWith(held: HeldMessage): Promise<boolean> {
    const source = messageOf(held);
    const group = store.groups.byJid(held.jid);
    if (group === null) return store.heldMessages.take(held.seq) !== null;
    const early = begun.get(held.jid);
    begun.delete(held.jid);
    const outcome = await (early?.id === held.id ? early.outcome : applied(source, group));
    if (stopping.signal.aborted) return false;
    if (outcome.kind !== 'failed') {
      await parts.release(held, source.message, outcome);
      return true;
    }
    const { filter, problem } = outcome;
    store.heldMessages.note(held.seq, `${filter}: ${problem}`);
    if (told.has(filter)) return false;
    told.add(filter);
    parts.tellOwner(
      `A message in ${group.name} waits: the inbound filter ${filter} cannot look at it (${problem}). It is tried again by itself, and later ones there wait behind it. \`/status\` counts them.`,
    );
    return false;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        pauses.delete(end);
        resolve();
      };
      const cancel = setTimer(Math.min(ms, LONGEST_PAUSE_MS), end);
      pauses.add(end);
    });
  }

  function wake(jids: readonly string[]): void {
    for (const jid of jids) {
      if (stopping.signal.aborted || working.has(jid)) continue;
      busy.add(jid);
      working.add(jid);
      void work(jid);
    }
  }

  return {
    begin(source, group) {
      if (busy.has(source.message.jid)) return keep(source, null);
      const outcome = applied(source, group);
      if (outcome instanceof Promise) return keep(source, outcome);
      if (outcome.kind === 'failed') return keep(source, Promise.resolve(outcome));
      return outcome;
    },
    start: () => wake(store.heldMessages.chats()),
    wake,
    stop() {
      stopping.abort(new Error('The assistant ends.'));
      for (const end of pauses) end();
    },
  };
}

/** Returns the part of a message that a filter sees. */
function seenBy({ channel, message }: ChannelMessage, group: Group): FilteredMessage {
  const { id, isDirect, sentAt, sender, senderName, isOwner } = message;
  const { name, folder, isMain } = group;
  return {
    id,
    channel,
    group: { name, folder, isMain },
    isDirect,
    sender: { id: sender, name: senderName, isOwner },
    text: wordsWithNotes(message),
    sentAt,
    isContext: message.isContext === true,
    attachments: message.attachments ?? [],
  };
}

/** The fields that have no column of their own. A field that an older tree did not write is left out. */
const Payload = z.object({
  channel: z.string(),
  chatName: z.string().nullable(),
  isDirect: z.boolean(),
  senderName: z.string().nullable(),
  isOwner: z.boolean(),
  mentionsAssistant: z.boolean(),
  text: z.string(),
  forwarded: z.object({ from: z.string().nullable() }).exactOptional(),
  isTalk: z.boolean().exactOptional(),
  notes: z.array(z.string()).exactOptional(),
  sentAt: z.number(),
  isContext: z.boolean().exactOptional(),
  isLate: z.boolean().exactOptional(),
  thread: z.string().exactOptional(),
  threadName: z.string().exactOptional(),
  attachments: z
    .array(
      z.object({
        kind: z.enum(['image', 'video', 'voice', 'audio', 'document', 'sticker']),
        mimeType: z.string().nullable(),
        sizeBytes: z.number().nullable(),
        name: z.string().nullable(),
        seconds: z.number().exactOptional(),
      }),
    )
    .exactOptional(),
});

/** Returns a message as it is kept while it waits. */
function heldOf({ channel, message }: ChannelMessage): Omit<HeldMessage, 'seq'> {
  const { jid, id, sender, ...payload } = message;
  return { jid, id, sender, payload: { channel, ...payload } };
}

/**
 * Reads a message that waits; chat and sender may have other addresses than when it came.
 *
 * @throws ZodError where another tree has written it in a way that is not known here
 */
function messageOf({ jid, id, sender, payload }: HeldMessage): ChannelMessage {
  const { channel, ...message } = Payload.parse(payload);
  return { channel, message: { jid, id, sender, ...message } };
}
