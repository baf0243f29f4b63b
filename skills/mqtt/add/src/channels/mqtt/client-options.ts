import { readFileSync } from 'node:fs';
import type { IClientOptions } from 'mqtt';
import { MqttError } from './failure.ts';
import type { MqttSettings, TlsFiles } from './settings.ts';

const CONNECT_MS = 15_000;
const KEEPALIVE_SECONDS = 30;

type Connecting = Pick<MqttSettings, 'username' | 'password' | 'tls'>;

/**
 * Makes the options of MQTT.js that all connections share. A broker is never trusted without its certificate.
 *
 * @throws MqttError FILE where a file of the TLS settings cannot be read
 */
export function clientOptions({ username, password, tls }: Connecting): IClientOptions {
  return {
    protocolVersion: 4,
    connectTimeout: CONNECT_MS,
    keepalive: KEEPALIVE_SECONDS,
    // The channel connects again by itself, with longer pauses each time.
    reconnectPeriod: 0,
    rejectUnauthorized: true,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...filesOf(tls),
  };
}

function filesOf({ ca, cert, key }: TlsFiles): Pick<IClientOptions, 'ca' | 'cert' | 'key'> {
  return {
    ...(ca === null ? {} : { ca: read('MQTT_CA_FILE', ca) }),
    ...(cert === null ? {} : { cert: read('MQTT_CERT_FILE', cert) }),
    ...(key === null ? {} : { key: read('MQTT_KEY_FILE', key) }),
  };
}

function read(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const message = `${path} cannot be read. Correct ${setting} in .env and restart.`;
    throw new MqttError('FILE', message, { cause });
  }
}
