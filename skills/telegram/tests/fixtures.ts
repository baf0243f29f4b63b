import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelEvents,
  ChannelStatus,
  ChatCommand,
  InboundMessage,
  KnownChat,
  Reaction,
  ReactionOutcome,
} from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/telegram.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import type { BotApi, BotApiChat, BotApiUser } from './botApi.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { telegramExamination } from '../../../src/doctor/telegram.ts';
export { setup } from '../../../src/setup/telegram.ts';

export const TOKEN = '4242:AAtest_token-for_a_bot_of_nobody';

export const ADA: BotApiUser = { id: 10011, first_name: 'Ada', last_name: 'Lovelace' };
export const EVE: BotApiUser = { id: 6666, first_name: 'Eve' };

export const ADA_DIRECT: BotApiChat & { first_name: string; last_name: string } = {
  id: ADA.id,
  type: 'private',
  first_name: 'Ada',
  last_name: 'Lovelace',
};
export const EVE_DIRECT: BotApiChat = { id: EVE.id, type: 'private' };
export const FAMILY: BotApiChat = { id: -1_001_234, type: 'supergroup', title: 'Family' };

/** The host's end of a channel. `onMessage` may be replaced to make storing fail or slow. */
export class Inbox implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly reactions: Reaction[] = [];
  readonly statuses: ChannelStatus[] = [];
  readonly sameChats: unknown[] = [];
  readonly log: { message: string; data: unknown }[] = [];

  onMessage = async (message: InboundMessage): Promise<void> => {
    this.messages.push(message);
  };

  onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
  };

  onSameChat = async (...chats: unknown[]): Promise<void> => {
    this.sameChats.push(chats);
  };

  onStranger = async (sender: string): Promise<void> => {
    this.strangers.push(sender);
  };

  onReaction = async (reaction: Reaction): Promise<ReactionOutcome> => {
    this.reactions.push(reaction);
    return 'kept';
  };

  onStatus = (status: ChannelStatus): void => {
    this.statuses.push(status);
  };
}

/** For tests that wait for a far end and prove nothing about time. */
export const REAL_CLOCK: ChannelClock = { now: Date.now, random: Math.random, pause };

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
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'telegram');
}

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  inbox: Inbox,
  clock: ChannelClock = REAL_CLOCK,
  openDatabase: OpenDatabase = inMemory(),
  dataDir = '/nowhere/data',
  commands: readonly ChatCommand[] = [],
): Channel | null {
  const write = (message: string, data?: unknown) => inbox.log.push({ message, data });
  const log = { info: write, warn: write };
  const context = {
    assistantName: 'Andy',
    dataDir,
    log,
    ownerConsole: null,
    openDatabase,
    clock,
    commands,
  };
  const opened = channel.open(env, context);
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return opened.value;
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  api: BotApi,
  env: Readonly<Record<string, string>> = {},
  clock: ChannelClock = REAL_CLOCK,
  openDatabase: OpenDatabase = inMemory(),
  dataDir?: string,
): Promise<{ channel: Channel; inbox: Inbox } & AsyncDisposable> {
  const inbox = new Inbox();
  const settings = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
    ...env,
  };
  const created = createChannel(settings, inbox, clock, openDatabase, dataDir);
  if (created === null) throw new Error('the channel stayed silent although it has a token');
  await created.connect(inbox);
  return { channel: created, inbox, [Symbol.asyncDispose]: () => created.disconnect() };
}
