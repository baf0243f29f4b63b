import { channel } from '../../../src/channels/serial.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import { openMemoryDatabases } from '../../../src/store/own-databases.ts';
import {
  connectChannel as connect,
  createChannel as create,
  type Inbox,
} from '../../../src/testing/channel/inbox.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { createLineSplitter, MAX_LINE_BYTES } from '../../../src/channels/serial/line-splitter.ts';
export { examination } from '../../../src/doctor/serial.ts';
export { setup } from '../../../src/setup/serial.ts';
export { Inbox } from '../../../src/testing/channel/inbox.ts';

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export function inMemory(): OpenDatabase {
  return openMemoryDatabases({ now: () => 0 }).of('channel', 'serial');
}

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  inbox: Inbox,
  openDatabase: OpenDatabase = inMemory(),
) {
  return create(channel, env, { inbox, openDatabase });
}

/** A connected channel that the caller disconnects by leaving the scope. */
export function connectChannel(
  port: string,
  env: Readonly<Record<string, string>> = {},
  openDatabase: OpenDatabase = inMemory(),
) {
  const own = { SERIAL_PORT: port, SERIAL_ALLOW_FROM: 'uart_user, esp32' };
  return connect(channel, { ...own, ...env }, openDatabase);
}
