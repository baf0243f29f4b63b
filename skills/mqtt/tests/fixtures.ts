import { channel } from '../../../src/channels/mqtt.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  connectChannel as connect,
  createChannel as create,
  memoryOf,
  stoppedClock,
} from '../../../src/testing/channel/connected-channel.ts';
import type { HostEnd } from '../../../src/testing/channel/host-end.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { mqttExamination } from '../../../src/doctor/mqtt.ts';
export { setup } from '../../../src/setup/mqtt.ts';
export { HostEnd } from '../../../src/testing/channel/host-end.ts';

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('mqtt');

/** The channel as `.env` would make it, or null when it stays silent. */
export function createChannel(
  env: Readonly<Record<string, string>>,
  host: HostEnd,
  openDatabase?: OpenDatabase,
) {
  return create(channel, env, { host, openDatabase, clock: stoppedClock() });
}

/** A connected channel that the caller disconnects by leaving the scope. */
export function connectChannel(
  url: string,
  env: Readonly<Record<string, string>> = {},
  openDatabase?: OpenDatabase,
) {
  const own = { MQTT_URL: url, MQTT_ALLOW_FROM: 'esp32, unknown', MQTT_CLIENT_ID: 'andy' };
  const settings = { ...own, ...env };
  return connect(channel, settings, { openDatabase, clock: stoppedClock() });
}
