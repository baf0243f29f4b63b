import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/signal.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ChannelParts,
  type ConnectedChannel,
  connectChannel,
  memoryOf,
} from '../../../src/testing/channel/connected-channel.ts';
import type { Person, SignalCli } from './signal-cli.ts';

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
export const inMemory = (): OpenDatabase => memoryOf('signal');

export type Given = ChannelParts & { readonly env?: Readonly<Record<string, string>> };

/** A connected channel that the caller disconnects by leaving the scope; its pauses take a fiftieth. */
export function connect(cli: SignalCli, { env, ...given }: Given = {}): Promise<ConnectedChannel> {
  return connectChannel(
    channel,
    { ...settingsOf(cli), ...env },
    {
      dataDir: '/project/data',
      clock: { now: Date.now, random: () => 0, pause: (ms, signal) => pause(ms / 50, signal) },
      ...given,
    },
  );
}
