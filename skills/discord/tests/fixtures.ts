import type { Channel } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/discord.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ChannelParts,
  type ConnectedChannel,
  connectChannel as connect,
  createChannel as create,
  memoryOf,
  stoppedClock as stopped,
} from '../../../src/testing/channel/connected-channel.ts';
import type { HostEnd } from '../../../src/testing/channel/host-end.ts';
import { type DiscordServer, startDiscord } from './discord-server.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { discordExamination } from '../../../src/doctor/discord.ts';
export { setup } from '../../../src/setup/discord.ts';
export { HostEnd } from '../../../src/testing/channel/host-end.ts';

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

/** A clock that stands still and notes the pauses, each by the middle of its chance. */
export const stoppedClock = () => stopped(0.5);

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('discord');

export type Given = Omit<ChannelParts, 'host'> & {
  readonly env?: Readonly<Record<string, string>>;
};

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  host: HostEnd,
  given: Given = {},
): Channel | null {
  return create(channel, env, { dataDir: '/project/data', ...given, host });
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
export function connectChannel(
  discord: Pick<DiscordServer, 'url'>,
  { env, ...given }: Given = {},
): Promise<ConnectedChannel> {
  return connect(
    channel,
    { ...settingsOf(discord), ...env },
    { dataDir: '/project/data', ...given },
  );
}
