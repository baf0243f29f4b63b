import type { Channel, ChannelClock } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/slack.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ConnectedChannel,
  connectChannel as connect,
  createChannel as create,
  memoryOf,
} from '../../../src/testing/channel/connected-channel.ts';
import type { HostEnd } from '../../../src/testing/channel/host-end.ts';
import { type SlackServer, startSlack } from './slack-server.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { slackExamination } from '../../../src/doctor/slack.ts';
export { setup } from '../../../src/setup/slack.ts';
export { stoppedClock } from '../../../src/testing/channel/connected-channel.ts';
export { HostEnd } from '../../../src/testing/channel/host-end.ts';

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

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('slack');

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  host: HostEnd,
  clock?: ChannelClock,
  openDatabase?: OpenDatabase,
  dataDir?: string,
): Channel | null {
  return create(channel, env, { host, clock, openDatabase, dataDir });
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
export function connectChannel(
  slack: Pick<SlackServer, 'url'>,
  env: Readonly<Record<string, string>> = {},
  clock?: ChannelClock,
  openDatabase?: OpenDatabase,
  dataDir?: string,
): Promise<ConnectedChannel> {
  return connect(channel, { ...settingsOf(slack), ...env }, { clock, openDatabase, dataDir });
}
