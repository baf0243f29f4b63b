import type { Channel, ChannelClock } from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/matrix.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ChannelParts,
  type ConnectedChannel,
  connectChannel as connect,
  createChannel as create,
  memoryOf,
  stoppedClock as stopped,
} from '../../../src/testing/channel/connected-channel.ts';
import { MatrixServer } from './matrix-server.ts';

export const TOKEN = 'syt_token_of_nobody';
export const BOT = '@andy:test';
export const DEVICE = 'ANDYDEVICE';
export const ADA = '@ada:test';
export const EVE = '@eve:test';
export const ADA_DIRECT = '!ada:test';
export const EVE_DIRECT = '!eve:test';
export const HALL = '!hall:test';
export const SECRET = '!secret:test';

export const ENCRYPTED = {
  type: 'm.room.encryption',
  content: { algorithm: 'm.megolm.v1.aes-sha2' },
};

/** A server with a room, and two people who write to the account directly as well. */
export async function startServer(): Promise<MatrixServer> {
  const server = await new MatrixServer().comeUp();
  server.sessions.set(TOKEN, { user: BOT, device: DEVICE });
  server.names.set(BOT, 'Andy the bot');
  server.names.set(ADA, 'Ada');
  server.addRoom(ADA_DIRECT, [ADA, BOT]);
  server.addRoom(EVE_DIRECT, [EVE, BOT]);
  const name = { type: 'm.room.name', content: { name: 'Hall' } };
  server.addRoom(HALL, [ADA, EVE, BOT], [name]);
  server.direct = { [ADA]: [ADA_DIRECT, SECRET], [EVE]: [EVE_DIRECT] };
  return server;
}

/** For tests that wait for a far end and prove nothing about time. */
const QUICK_CLOCK: ChannelClock = {
  now: Date.now,
  random: () => 0,
  pause: (ms, signal) => pause(Math.min(ms, 5), signal),
};

/** A clock that stands still and notes the pauses, each by the middle of its chance. */
export const stoppedClock = () => stopped(0.5);

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('matrix');

const USUAL = { clock: QUICK_CLOCK, dataDir: '/project/data' };

export type Given = Omit<ChannelParts, 'host'> & {
  readonly env?: Readonly<Record<string, string>>;
};

/** Settings that let Ada write. */
export function settingsOf(server: Pick<MatrixServer, 'url'>): Readonly<Record<string, string>> {
  return { MATRIX_HOMESERVER: server.url, MATRIX_TOKEN: TOKEN, MATRIX_ALLOW_FROM: ADA };
}

/** The channel as `.env` would make it. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  given: ChannelParts = {},
): Channel {
  const created = create(channel, env, { ...USUAL, ...given });
  if (created === null) throw new Error('the channel stayed silent');
  return created;
}

/** A connected channel that the caller disconnects by leaving the scope. */
export function connectChannel(
  server: Pick<MatrixServer, 'url'>,
  { env, ...given }: Given = {},
): Promise<ConnectedChannel> {
  return connect(channel, { ...settingsOf(server), ...env }, { ...USUAL, ...given });
}
