import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelEvents,
  ChannelStatus,
  ChatCommand,
  Choice,
  ChoiceOutcome,
  InboundMessage,
  KnownChat,
  Reaction,
  ReactionOutcome,
} from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/discord.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import { type DiscordServer, startDiscord } from './discordServer.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { discordExamination } from '../../../src/doctor/discord.ts';
export { setup } from '../../../src/setup/discord.ts';

export const TOKEN = 'MTA1.test-token.of-nobody';

export const ADA = { id: '100000000000000001', username: 'ada', global_name: 'Ada' };
export const EVE = { id: '100000000000000002', username: 'eve' };
export const GENERAL = '200000000000000001';
export const THREAD = '200000000000000002';
export const ADA_DIRECT = '300000000000000001';
export const EVE_DIRECT = '300000000000000002';

/** A server with a channel and a thread in it, and two people who write to the bot directly as well. */
export async function startServer(): Promise<DiscordServer> {
  const discord = await startDiscord(TOKEN);
  const { guildId: guild_id } = discord;
  discord.addChannel({ id: GENERAL, type: 0, name: 'general', guild_id });
  discord.addChannel({ id: THREAD, type: 11, name: 'plans', parent_id: GENERAL, guild_id });
  discord.addChannel({ id: ADA_DIRECT, type: 1, recipients: [ADA] });
  discord.addChannel({ id: EVE_DIRECT, type: 1, recipients: [EVE] });
  return discord;
}

/** The host's end of a channel. Its parts may be replaced to make storing fail or slow. */
export class Inbox implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly choices: Choice[] = [];
  readonly reactions: Reaction[] = [];
  readonly statuses: ChannelStatus[] = [];
  readonly log: { message: string; data: unknown }[] = [];
  outcome: ChoiceOutcome = 'noted';

  onMessage = async (message: InboundMessage): Promise<void> => {
    this.messages.push(message);
  };

  onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
  };

  onStranger = async (sender: string): Promise<void> => {
    this.strangers.push(sender);
  };

  onChoice = async (choice: Choice): Promise<ChoiceOutcome> => {
    this.choices.push(choice);
    return this.outcome;
  };

  onReaction = async (reaction: Reaction): Promise<ReactionOutcome> => {
    this.reactions.push(reaction);
    return 'kept';
  };

  onStatus = (status: ChannelStatus): void => {
    this.statuses.push(status);
  };

  get texts(): readonly string[] {
    return this.messages.map(({ text }) => text);
  }
}

/** For tests that wait for a far end and prove nothing about time. */
export const REAL_CLOCK: ChannelClock = { now: Date.now, random: Math.random, pause };

/** A clock that stands still and notes the pauses: none of them takes time. */
export function stoppedClock(): ChannelClock & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  return {
    pauses,
    now: () => 0,
    random: () => 0.5,
    async pause(ms) {
      pauses.push(ms);
      await setImmediate();
    },
  };
}

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export function inMemory(): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'discord');
}

export type Given = {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: ChannelClock;
  readonly openDatabase?: OpenDatabase;
  readonly dataDir?: string;
  readonly commands?: readonly ChatCommand[];
};

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  inbox: Inbox,
  {
    clock = REAL_CLOCK,
    openDatabase = inMemory(),
    dataDir = '/project/data',
    commands,
  }: Given = {},
): Channel | null {
  const write = (message: string, data?: unknown) => inbox.log.push({ message, data });
  const context = {
    assistantName: 'Andy',
    dataDir,
    log: { info: write, warn: write },
    ownerConsole: null,
    openDatabase,
    clock,
    ...(commands === undefined ? {} : { commands }),
  };
  const opened = channel.open(env, context);
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return opened.value;
}

/** Settings that let Ada write. */
export function settingsOf(discord: Pick<DiscordServer, 'url'>): Readonly<Record<string, string>> {
  return {
    DISCORD_BOT_TOKEN: TOKEN,
    DISCORD_ALLOW_FROM: ADA.id,
    DISCORD_API_URL: discord.url,
  };
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  discord: Pick<DiscordServer, 'url'>,
  given: Given = {},
): Promise<{ channel: Channel; inbox: Inbox } & AsyncDisposable> {
  const inbox = new Inbox();
  const created = createChannel({ ...settingsOf(discord), ...given.env }, inbox, given);
  if (created === null) throw new Error('the channel stayed silent although it has a token');
  await created.connect(inbox);
  return { channel: created, inbox, [Symbol.asyncDispose]: () => created.disconnect() };
}
