import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelEvents,
  ChannelStatus,
  InboundMessage,
  KnownChat,
  Reaction,
  ReactionOutcome,
} from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/slack.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import { type SlackServer, startSlack } from './slackServer.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { slackExamination } from '../../../src/doctor/slack.ts';
export { setup } from '../../../src/setup/slack.ts';

export const BOT_TOKEN = 'xoxb-test-token-of-nobody';
export const APP_TOKEN = 'xapp-test-token-of-nobody';

export const ADA = 'U0ADA';
export const EVE = 'U0EVE';
export const GENERAL = 'C0GENERAL';
export const ADA_DIRECT = 'D0ADA';
export const EVE_DIRECT = 'D0EVE';

/** A workspace with two people, a channel, and the app in it. */
export async function startWorkspace(): Promise<SlackServer> {
  const slack = await startSlack({ bot: BOT_TOKEN, app: APP_TOKEN });
  slack.addUser({ id: ADA, name: 'ada', real_name: 'Ada Lovelace' });
  slack.addUser({ id: EVE, name: 'eve', real_name: 'Eve' });
  slack.addUser({ id: slack.botUserId, name: 'andy', real_name: 'Andy' });
  slack.addChannel({ id: GENERAL, name: 'general' });
  slack.addChannel({ id: ADA_DIRECT, user: ADA });
  slack.addChannel({ id: EVE_DIRECT, user: EVE });
  return slack;
}

/** The host's end of a channel. `onMessage` may be replaced to make storing fail or slow. */
export class Inbox implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly reactions: Reaction[] = [];
  readonly statuses: ChannelStatus[] = [];
  readonly log: { message: string; data: unknown }[] = [];

  onMessage = async (message: InboundMessage): Promise<void> => {
    this.messages.push(message);
  };

  onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
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
const REAL_CLOCK: ChannelClock = { now: Date.now, random: Math.random, pause };

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
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'slack');
}

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  inbox: Inbox,
  clock: ChannelClock = REAL_CLOCK,
  openDatabase: OpenDatabase = inMemory(),
  dataDir = '/nowhere/data',
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
  };
  const opened = channel.open(env, context);
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  return opened.value;
}

/** Settings that let Ada write. */
export function settingsOf(slack: Pick<SlackServer, 'url'>): Readonly<Record<string, string>> {
  return {
    SLACK_BOT_TOKEN: BOT_TOKEN,
    SLACK_APP_TOKEN: APP_TOKEN,
    SLACK_ALLOW_FROM: ADA,
    SLACK_API_URL: slack.url,
  };
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  slack: Pick<SlackServer, 'url'>,
  env: Readonly<Record<string, string>> = {},
  clock: ChannelClock = REAL_CLOCK,
  openDatabase: OpenDatabase = inMemory(),
  dataDir?: string,
): Promise<{ channel: Channel; inbox: Inbox } & AsyncDisposable> {
  const inbox = new Inbox();
  const settings = { ...settingsOf(slack), ...env };
  const created = createChannel(settings, inbox, clock, openDatabase, dataDir);
  if (created === null) throw new Error('the channel stayed silent although it has a token');
  await created.connect(inbox);
  return { channel: created, inbox, [Symbol.asyncDispose]: () => created.disconnect() };
}
