/*
 * A channel as the host makes it, for the tests that are the channel's own. The rules that all channels keep have a
 * bench of their own (bench.ts).
 */

import { setImmediate } from 'node:timers/promises';
import type {
  Channel,
  ChannelClock,
  ChannelDefinition,
  ChatCommand,
} from '../../channels/channel.ts';
import { pause } from '../../channels/kit/backoff.ts';
import type { OpenDatabase } from '../../lib/own-database.ts';
import { openMemoryDatabases } from '../../store/own-databases.ts';
import { channelFrom } from './bench.ts';
import { HostEnd } from './host-end.ts';

/** For tests that wait for a far end and prove nothing about time. */
export const REAL_CLOCK: ChannelClock = { now: Date.now, random: Math.random, pause };

/** A clock that stands still and notes the pauses: none of them takes time. */
export function stoppedClock(
  random = 0,
): ChannelClock & { readonly pauses: readonly number[]; time: number } {
  const pauses: number[] = [];
  const clock = {
    pauses,
    time: 0,
    now: () => clock.time,
    random: () => random,
    async pause(ms: number) {
      pauses.push(ms);
      await setImmediate();
    },
  };
  return clock;
}

/** Returns a channel's database that ends with the process; one that is shared is the disk between two of them. */
export function memoryOf(channel: string): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', channel);
}

/** What a channel of a test is made with, beside its settings; a database and a clock of its own by default. */
export type ChannelParts = {
  readonly host?: HostEnd | undefined;
  readonly clock?: ChannelClock | undefined;
  readonly openDatabase?: OpenDatabase | undefined;
  readonly dataDir?: string | undefined;
  readonly commands?: readonly ChatCommand[] | undefined;
};

/**
 * Makes a channel as `.env` would, or null when it stays silent. Its log goes into the host's end.
 *
 * @throws Error with the settings that cannot be used
 */
export function createChannel(
  definition: ChannelDefinition,
  settings: Readonly<Record<string, string>>,
  parts: ChannelParts = {},
): Channel | null {
  const { host = new HostEnd(), clock = REAL_CLOCK, dataDir = '/nowhere/data', commands } = parts;
  const { openDatabase = memoryOf(definition.name) } = parts;
  return channelFrom(definition, settings, {
    assistantName: 'Andy',
    dataDir,
    log: { info: host.writeLog, warn: host.writeLog },
    ownerConsole: null,
    openDatabase,
    clock,
    ...(commands === undefined ? {} : { commands }),
  });
}

/** A connected channel and its host; the end of the scope disconnects it. */
export type ConnectedChannel = AsyncDisposable & {
  readonly channel: Channel;
  readonly host: HostEnd;
};

/** Makes a channel that is set up, and connects it. */
export async function connectChannel(
  definition: ChannelDefinition,
  settings: Readonly<Record<string, string>>,
  parts: ChannelParts = {},
): Promise<ConnectedChannel> {
  const { host = new HostEnd() } = parts;
  const channel = createChannel(definition, settings, { ...parts, host });
  if (channel === null) throw new Error('The channel stayed silent although it is set up.');
  await channel.connect(host);
  return { channel, host, [Symbol.asyncDispose]: () => channel.disconnect() };
}
