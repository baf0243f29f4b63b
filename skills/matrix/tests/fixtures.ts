import { setImmediate } from 'node:timers/promises';
import type { Channel, ChannelClock } from '../../../src/channels/channel.ts';
import { pause } from '../../../src/channels/kit/backoff.ts';
import { channel } from '../../../src/channels/matrix.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import { HostEnd } from '../../../src/testing/channel/host-end.ts';
import { MatrixServer } from './matrixServer.ts';

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
export const REAL_CLOCK: ChannelClock = {
  now: Date.now,
  random: () => 0,
  pause: (ms, signal) => pause(Math.min(ms, 5), signal),
};

/** A clock that notes the pauses: none of them takes time. */
export function stoppedClock(): ChannelClock & {
  readonly pauses: readonly number[];
  time: number;
} {
  const pauses: number[] = [];
  const clock = {
    pauses,
    time: 0,
    now: () => clock.time,
    random: () => 0.5,
    async pause(ms: number) {
      pauses.push(ms);
      await setImmediate();
    },
  };
  return clock;
}

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export function inMemory(): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'matrix');
}

export type Given = {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: ChannelClock;
  readonly openDatabase?: OpenDatabase;
  readonly dataDir?: string;
};

/** Settings that let Ada write. */
export function settingsOf(server: Pick<MatrixServer, 'url'>): Readonly<Record<string, string>> {
  return { MATRIX_HOMESERVER: server.url, MATRIX_TOKEN: TOKEN, MATRIX_ALLOW_FROM: ADA };
}

/** The channel as `.env` would make it. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  { clock = REAL_CLOCK, openDatabase = inMemory(), dataDir = '/project/data' }: Given = {},
): Channel {
  const log = { info() {}, warn() {} };
  const context = { assistantName: 'Andy', dataDir, log, ownerConsole: null, openDatabase, clock };
  const opened = channel.open(env, context);
  if (opened.kind === 'wrong-settings') throw new Error(JSON.stringify(opened.wrong));
  if (opened.value === null) throw new Error('the channel stayed silent');
  return opened.value;
}

/** A connected channel that the caller disconnects by leaving the scope. */
export async function connectChannel(
  server: Pick<MatrixServer, 'url'>,
  given: Given = {},
): Promise<{ channel: Channel; host: HostEnd } & AsyncDisposable> {
  const host = new HostEnd();
  const created = createChannel({ ...settingsOf(server), ...given.env }, given);
  await created.connect(host);
  return { channel: created, host, [Symbol.asyncDispose]: () => created.disconnect() };
}
