import { connect as connectTo } from 'node:net';
import { connect, type MqttClient } from 'mqtt';
import { clientOptions } from './client-options.ts';
import { established, subscribe } from './client-steps.ts';
import { explainFailure, MqttError } from './failure.ts';
import type { MqttSettings } from './settings.ts';

/** Result of a try: the broker lets us in and lets us read, or one sentence about what is wrong. */
export type Trial =
  | { readonly ok: true; readonly takesQos2: boolean }
  | { readonly ok: false; readonly message: string };

/**
 * Connects as a client of another name, and subscribes. The session of the running assistant is not touched.
 *
 * @param how `triesQos2` publishes a word with QoS 2 below the status topic, as some brokers take none
 * @returns never an exception, and nothing that holds the password
 */
export async function tryBroker(
  settings: MqttSettings,
  how: { readonly clientId: string; readonly triesQos2: boolean; readonly timeoutMs: number },
): Promise<Trial> {
  let client: MqttClient | null = null;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client?.end(true);
  }, how.timeoutMs);
  try {
    client = connect(settings.url, {
      ...clientOptions(settings),
      clientId: how.clientId,
      clean: true,
    });
    client.on('error', () => {}); // Told by the step that it ends.
    await established(client);
    await subscribe(client, settings);
    const takesQos2 = how.triesQos2 ? await publishes(client, settings) : true;
    return { ok: true, takesQos2 };
  } catch (error) {
    const silent = new MqttError('SILENT', `said nothing for ${how.timeoutMs / 1_000} s.`);
    const { status } = explainFailure(isLate ? silent : error, settings.url);
    return { ok: false, message: status.detail ?? 'The broker cannot be used.' };
  } finally {
    clearTimeout(timer);
    client?.end(true);
  }
}

const PORTS: Readonly<Record<string, number>> = {
  'mqtt:': 1883,
  'mqtts:': 8883,
  'ws:': 80,
  'wss:': 443,
};

/** Says why nothing can be reached at a broker's address, and sends it no word; null where something listens. */
export function reachProblem(url: string, timeoutMs: number): Promise<string | null> {
  const { protocol, hostname, port } = new URL(url);
  // A URL has an IPv6 address in brackets.
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connectTo({ host, port: Number(port) || (PORTS[protocol] ?? 1883) });
  return new Promise<string | null>((resolve) => {
    const late = new MqttError('SILENT', `said nothing for ${timeoutMs / 1_000} s.`);
    const tell = (error: unknown) => resolve(explainFailure(error, url).status.detail);
    socket.once('connect', () => resolve(null));
    socket.once('error', tell);
    socket.setTimeout(timeoutMs, () => tell(late));
  }).finally(() => socket.destroy());
}

function publishes(client: MqttClient, { statusTopic, open }: MqttSettings): Promise<boolean> {
  const topic = `${statusTopic ?? open.topicOut}/setup`;
  return new Promise((resolve) => {
    client.once('close', () => resolve(false));
    client.publish(topic, 'test', { qos: 2 }, (error) => resolve(!error));
  });
}
