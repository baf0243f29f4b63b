import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelDefinition,
  ChannelEvents,
  ChannelStatus,
  Frame,
  InboundMessage,
  KnownChat,
} from '../../channels/channel.ts';
import type { OpenDatabase } from '../../lib/own-database.ts';
import { channelFrom } from './bench.ts';

/** The host's end of a channel. `onMessage` may be replaced to make storing fail or slow. */
export class Inbox implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly statuses: ChannelStatus[] = [];
  readonly frames: Frame[] = [];
  readonly notices: string[] = [];
  /** Nobody takes frames by default. */
  takesFrames = false;
  readonly log: { message: string; data: unknown }[] = [];
  readonly #waiting = new Set<() => void>();

  onMessage = async (message: InboundMessage): Promise<void> => {
    this.messages.push(message);
    this.changed();
  };

  onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
  };

  onStranger = async (sender: string): Promise<void> => {
    this.strangers.push(sender);
    this.changed();
  };

  onFrame = (frame: Frame): boolean => {
    if (this.takesFrames) this.frames.push(frame);
    this.changed();
    return this.takesFrames;
  };

  onNotice = (text: string): void => void this.notices.push(text);

  onStatus = (status: ChannelStatus): void => {
    this.statuses.push(status);
    this.changed();
  };

  changed(): void {
    for (const look of this.#waiting) look();
  }

  get texts(): readonly string[] {
    return this.messages.map(({ text }) => text);
  }

  /** Resolves when the condition holds; it is looked at when anything comes. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** A clock that stands still and notes the pauses: none of them takes time. */
export function stoppedClock(): ChannelClock & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  return {
    pauses,
    now: () => 0,
    random: () => 0,
    async pause(ms) {
      pauses.push(ms);
      await setImmediate();
    },
  };
}

/** Makes a channel as `.env` would, or null when it stays silent. Its log goes into the inbox. */
export function createChannel(
  definition: ChannelDefinition,
  settings: Readonly<Record<string, string>>,
  { inbox, openDatabase }: { readonly inbox: Inbox; readonly openDatabase: OpenDatabase },
): Channel | null {
  const write = (message: string, data?: unknown): void => {
    inbox.log.push({ message, data });
    inbox.changed();
  };
  return channelFrom(definition, settings, {
    assistantName: 'Andy',
    dataDir: '/nowhere/data',
    log: { info: write, warn: write },
    ownerConsole: null,
    openDatabase,
    clock: stoppedClock(),
  });
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  definition: ChannelDefinition,
  settings: Readonly<Record<string, string>>,
  openDatabase: OpenDatabase,
): Promise<{ channel: Channel; inbox: Inbox } & AsyncDisposable> {
  const inbox = new Inbox();
  const channel = createChannel(definition, settings, { inbox, openDatabase });
  if (channel === null) throw new Error('The channel stayed silent although it is set up.');
  await channel.connect(inbox);
  return { channel, inbox, [Symbol.asyncDispose]: () => channel.disconnect() };
}
