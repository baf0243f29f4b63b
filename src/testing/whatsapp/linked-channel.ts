import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ChannelClock,
  ChannelLog,
  ChannelStatus,
  Choice,
  InboundMessage,
  KnownChat,
  Reaction,
  ReactionOutcome,
} from '../../channels/channel.ts';
import { pause } from '../../channels/kit/backoff.ts';
import type { DeliveryPace } from '../../channels/whatsapp/outbound/delivery.ts';
import type { Endpoint } from '../../channels/whatsapp/session/endpoint.ts';
import { pair } from '../../channels/whatsapp/session/pairing.ts';
import { WhatsAppChannel } from '../../channels/whatsapp.ts';
import { PhoneNumber } from '../../lib/setting-values.ts';
import { PlainAgent } from './media.ts';
import type { WhatsAppServer } from './server.ts';

const silent: ChannelLog = { info: () => {}, warn: () => {} };

/** The real one. */
export const CLOCK: ChannelClock = { now: Date.now, random: Math.random, pause };

/** Only a hang reaches it: a hundred messages at once take a slow machine more than half a minute. */
const HANG_MS = 300_000;

/** Nothing waits in tests that need not. */
export const FAST: DeliveryPace = {
  perChat: { burst: 1_000, everyMs: 1 },
  overall: { burst: 1_000, everyMs: 1 },
  newChatsADay: 1_000,
  ackMs: HANG_MS,
  longestWaitMs: 1_000,
};

/** Returns the endpoint that a test server is. */
export function endpointOf(
  server: Pick<WhatsAppServer, 'url' | 'filesUrl'>,
  options: Partial<Endpoint> = {},
): Endpoint {
  return {
    socketUrl: server.url,
    media: { url: server.filesUrl, limitBytes: 1_000_000 },
    uploadAgent: new PlainAgent(),
    pace: FAST,
    fetchVersion: async () => null,
    timeScale: 0.02,
    ...options,
  };
}

/** A channel with a data folder of its own, and everything it told the host. */
export class LinkedChannel {
  readonly dataDir: string;
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly choices: Choice[] = [];
  readonly reactions: Reaction[] = [];
  /** The host's answer to the next reactions. */
  reactionOutcome: ReactionOutcome = 'kept';
  readonly merged: { readonly from: string; readonly to: string }[] = [];
  /** Runs before two chats count as one; may reject. */
  beforeMerged: () => Promise<void> = async () => {};
  /** Runs before a choice counts as stored; may reject. */
  beforeChosen: () => Promise<void> = async () => {};
  readonly statuses: ChannelStatus[] = [];
  readonly logged: string[] = [];
  /** Runs before a message counts as stored; may reject, as a host that cannot store. */
  beforeStored: (message: InboundMessage) => Promise<void> = async () => {};
  channel: WhatsAppChannel;
  readonly #server: WhatsAppServer;
  readonly #environment: Record<string, string>;
  readonly #endpoint: Endpoint;
  #changed = Promise.withResolvers<void>();

  constructor(
    server: WhatsAppServer,
    environment: Record<string, string> = {},
    endpoint: Partial<Endpoint> = {},
    dataDir: string = mkdtempSync(join(tmpdir(), 'claw-whatsapp-')),
  ) {
    this.dataDir = dataDir;
    this.#server = server;
    this.#environment = environment;
    this.#endpoint = endpointOf(server, endpoint);
    this.channel = this.#create();
  }

  /** Another assistant on the same data folder, with another endpoint. */
  withEndpoint(endpoint: Partial<Endpoint>): LinkedChannel {
    return new LinkedChannel(this.#server, this.#environment, endpoint, this.dataDir);
  }

  async pair(): Promise<void> {
    await pair({
      dataDir: this.dataDir,
      method: {
        kind: 'qr',
        show: (qr) => void this.#server.pairing().then((pairing) => pairing.scan(qr)),
      },
      log: silent,
      clock: CLOCK,
      signal: new AbortController().signal,
      isAgain: false,
      endpoint: this.#endpoint,
    });
  }

  async connect(): Promise<void> {
    await this.channel.connect({
      onMessage: async (message) => {
        await this.beforeStored(message);
        this.messages.push(message);
        this.#wake();
      },
      onChat: async (chat) => {
        this.chats.push(chat);
        this.#wake();
      },
      onSameChat: async (from, to) => {
        await this.beforeMerged();
        this.merged.push({ from, to });
        this.#wake();
      },
      onReaction: async (reaction) => {
        this.reactions.push(reaction);
        this.#wake();
        return this.reactionOutcome;
      },
      onChoice: async (choice) => {
        await this.beforeChosen();
        this.choices.push(choice);
        this.#wake();
        return 'noted';
      },
      onStatus: (status) => {
        this.statuses.push(status);
        this.#wake();
      },
    });
  }

  /** As after a restart of the assistant: the data folder is what remains. */
  async restart(): Promise<void> {
    await this.channel.disconnect();
    this.channel = this.#create();
    await this.connect();
  }

  /** Resolves when the host has heard enough. */
  async until(isEnough: () => boolean): Promise<void> {
    const { promise: isLate, reject } = Promise.withResolvers<never>();
    const heard = () => JSON.stringify([this.messages, this.chats, this.statuses, this.logged]);
    const timer = setTimeout(() => reject(new Error(`waited in vain; heard ${heard()}`)), HANG_MS);
    try {
      while (!isEnough()) await Promise.race([this.#changed.promise, isLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.channel.disconnect();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  #create(): WhatsAppChannel {
    const { WHATSAPP_OWNER: owner = '' } = this.#environment;
    const settings = {
      assistantName: 'Andy',
      dataDir: this.dataDir,
      owner: owner === '' ? null : PhoneNumber.parse(owner),
    };
    const note = (message: string, data?: unknown) =>
      void this.logged.push(`${message} ${JSON.stringify(data ?? {})}`);
    const log = { info: note, warn: note };
    return new WhatsAppChannel({ settings, log, clock: CLOCK }, this.#endpoint);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
