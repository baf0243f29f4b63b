import type { Channel, ChannelClock, ChatCommand } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/telegram.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ConnectedChannel,
  connectChannel as connect,
  createChannel as create,
  memoryOf,
} from '../../../src/testing/channel/connected-channel.ts';
import type { HostEnd } from '../../../src/testing/channel/host-end.ts';
import type { BotApi, BotApiChat, BotApiUser } from './bot-api.ts';

export { TelegramEnvironment } from '../../../src/channels/telegram/settings.ts';
export { secretOf } from '../../../src/channels/telegram/webhook.ts';
export { tryWebhookAddress } from '../../../src/channels/telegram/webhook-address.ts';
// What the skill brings is reached through here: the files are there once it is applied.
export { telegramExamination } from '../../../src/doctor/telegram.ts';
export { setUpTelegram, setup } from '../../../src/setup/telegram.ts';
export { REAL_CLOCK, stoppedClock } from '../../../src/testing/channel/connected-channel.ts';
export { HostEnd } from '../../../src/testing/channel/host-end.ts';

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

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('telegram');

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  host: HostEnd,
  clock?: ChannelClock,
  openDatabase?: OpenDatabase,
  dataDir?: string,
  commands?: readonly ChatCommand[],
): Channel | null {
  return create(channel, env, { host, clock, openDatabase, dataDir, commands });
}

/** A connected channel that the caller disconnects by leaving the scope. */
export function connectChannel(
  api: Pick<BotApi, 'url'>,
  env: Readonly<Record<string, string>> = {},
  clock?: ChannelClock,
  openDatabase?: OpenDatabase,
  dataDir?: string,
): Promise<ConnectedChannel> {
  const settings = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
    ...env,
  };
  return connect(channel, settings, { clock, openDatabase, dataDir });
}
