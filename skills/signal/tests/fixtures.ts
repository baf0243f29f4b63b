import type { Channel } from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/signal.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { HostEnd } from '../../../src/testing/channel/host-end.ts';
import type { Person, SignalCli } from './signalCli.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { styledParts } from '../../../src/channels/signal/styles.ts';
export { examination } from '../../../src/doctor/signal.ts';
export { setup } from '../../../src/setup/signal.ts';
export { channel };

export const ADA: Person = {
  uuid: 'ada00000-0000-4000-8000-000000000001',
  number: '+4915111111111',
  name: 'Ada',
};
/** Somebody who hides their number. */
export const BOB: Person = {
  uuid: 'b0b00000-0000-4000-8000-000000000002',
  number: null,
  name: 'Bob',
};
export const EVE: Person = {
  uuid: 'e0e00000-0000-4000-8000-000000000003',
  number: '+4915133333333',
  name: 'Eve',
};
export const GROUP = 'Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=';
export const GROUP_JID = 'signal:group.Pmpi-EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI';
export const ADA_JID = `signal:${ADA.uuid}`;

/** Settings that let Ada, by her number, and Bob, by his UUID, write. */
export function settingsOf({ url, account }: SignalCli): Readonly<Record<string, string>> {
  return {
    SIGNAL_CLI_URL: url,
    SIGNAL_ACCOUNT: account,
    SIGNAL_ALLOW_FROM: `${ADA.number},${BOB.uuid}`,
  };
}

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export function inMemory(): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'signal');
}

export type Given = {
  readonly env?: Readonly<Record<string, string>>;
  readonly openDatabase?: OpenDatabase;
  readonly dataDir?: string;
  readonly host?: HostEnd;
};

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connect(
  cli: SignalCli,
  {
    env = {},
    openDatabase = inMemory(),
    dataDir = '/project/data',
    host = new HostEnd(),
  }: Given = {},
): Promise<{ channel: Channel; host: HostEnd; log: string[] } & AsyncDisposable> {
  const log: string[] = [];
  const note = (message: string, data?: unknown) =>
    void log.push(`${message} ${JSON.stringify(data ?? {})}`);
  const made = channelFrom(
    channel,
    { ...settingsOf(cli), ...env },
    {
      assistantName: 'Andy',
      dataDir,
      log: { info: note, warn: note },
      ownerConsole: null,
      openDatabase,
      clock: { now: Date.now, random: () => 0, pause: (ms, signal) => pause(ms / 50, signal) },
    },
  );
  if (made === null) throw new Error('the channel stayed silent although it has an account');
  await made.connect(host);
  return { channel: made, host, log, [Symbol.asyncDispose]: () => made.disconnect() };
}
