import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelEvents,
  ChannelStatus,
  InboundMessage,
  KnownChat,
} from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/mqtt.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { mqttExamination } from '../../../src/doctor/mqtt.ts';
export { setup } from '../../../src/setup/mqtt.ts';

/** The host's end of a channel. `onMessage` may be replaced to make storing fail or slow. */
export class Inbox implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly statuses: ChannelStatus[] = [];
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

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export function inMemory(): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'mqtt');
}

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  inbox: Inbox,
  openDatabase: OpenDatabase = inMemory(),
): Channel | null {
  const write = (message: string, data?: unknown) => {
    inbox.log.push({ message, data });
    inbox.changed();
  };
  const opened = channel.open(env, {
    assistantName: 'Andy',
    dataDir: '/nowhere/data',
    log: { info: write, warn: write },
    ownerConsole: null,
    openDatabase,
    clock: stoppedClock(),
  });
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return opened.value;
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  url: string,
  env: Readonly<Record<string, string>> = {},
  openDatabase: OpenDatabase = inMemory(),
): Promise<{ channel: Channel; inbox: Inbox } & AsyncDisposable> {
  const inbox = new Inbox();
  const settings = {
    MQTT_URL: url,
    MQTT_ALLOW_FROM: 'esp32, unknown',
    MQTT_CLIENT_ID: 'andy',
    ...env,
  };
  const created = createChannel(settings, inbox, openDatabase);
  if (created === null) throw new Error('the channel stayed silent although it has a broker');
  await created.connect(inbox);
  return { channel: created, inbox, [Symbol.asyncDispose]: () => created.disconnect() };
}
