import type { Channel } from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/linear.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ChannelParts,
  createChannel as create,
  memoryOf,
} from '../../../src/testing/channel/connected-channel.ts';
import { HostEnd } from '../../../src/testing/channel/host-end.ts';
import type { LinearServer, User } from './linear-server.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { examination } from '../../../src/doctor/linear.ts';
export { nudge } from '../../../src/lib/linear/nudge.ts';
export { setup } from '../../../src/setup/linear.ts';
export { channel };

export const KEY = 'lin_api_key-of-nobody';
export const ADA: User = {
  id: '00000000-0000-4000-8000-000000000001',
  name: 'Ada',
  email: 'Ada@example.org',
};
export const EVE: User = {
  id: '00000000-0000-4000-8000-000000000002',
  name: 'Eve',
  email: 'eve@example.org',
};
export const JID = 'linear:__channel__';

/** Settings that let Ada give the assistant issues. */
export function settingsOf({ url }: Pick<LinearServer, 'url'>): Readonly<Record<string, string>> {
  return { LINEAR_API_URL: url, LINEAR_API_KEY: KEY, LINEAR_ALLOW_FROM: 'ada@example.org' };
}

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('linear');

export type Given = Pick<ChannelParts, 'openDatabase' | 'dataDir'> & {
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: () => number;
};

/** Makes the channel; its pauses take a thousandth of what they should, at least two milliseconds. */
export function createChannel(
  server: LinearServer,
  { env = {}, openDatabase, dataDir = '/project/data', now = Date.now }: Given = {},
): Channel {
  const quick = (ms: number, signal: AbortSignal) => pause(Math.max(2, ms / 1_000), signal);
  const clock = { now, random: () => 0, pause: quick };
  const made = create(channel, { ...settingsOf(server), ...env }, { openDatabase, dataDir, clock });
  if (made === null) throw new Error('the channel stayed silent although it has a key');
  return made;
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connect(
  server: LinearServer,
  given: Given = {},
): Promise<{ channel: Channel; host: HostEnd } & AsyncDisposable> {
  const host = new HostEnd();
  const made = createChannel(server, given);
  await made.connect(host);
  return { channel: made, host, [Symbol.asyncDispose]: () => made.disconnect() };
}
