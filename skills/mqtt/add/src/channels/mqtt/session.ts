import { connect, type MqttClient } from 'mqtt';
import { clientOptions } from './client-options.ts';
import { established, subscribe } from './client-steps.ts';
import { MqttError } from './failure.ts';
import type { Publication, Take } from './inbox.ts';
import { OutgoingStore } from './outgoing-store.ts';
import type { PartName, Records } from './records.ts';
import type { MqttSettings } from './settings.ts';
import { keepPacketsSmall } from './small-packets.ts';

/** A last word to the broker must not keep a restart waiting. */
const GOODBYE_MS = 2_000;

/** A connection to the broker that works: it is subscribed, and what was left over is sent. */
export interface Session {
  /** Resolves when the broker has taken the message; rejects where the connection ended before. */
  publish(part: PartName, topic: string, payload: string): Promise<void>;
  /** Publishes something that is worth nothing later. */
  publishNow(topic: string, payload: string): Promise<void>;
  /** Resolves when the connection is down, from either end. */
  readonly closed: Promise<void>;
  /** Says goodbye, once what was received is acknowledged. */
  close(): Promise<void>;
}

export type SessionOptions = {
  readonly settings: MqttSettings;
  readonly clientId: string;
  readonly records: Records;
  readonly take: Take;
  /** Gives the connection up. */
  readonly signal: AbortSignal;
};

/**
 * Opens a session that the broker keeps while we are away. MQTT.js acknowledges a message when `handleMessage` calls back,
 * and takes no other one before: the host has stored it by then.
 *
 * @throws MqttError, or the error of MQTT.js or the system
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { settings, clientId, records, signal } = options;
  keepPacketsSmall();
  const store = new OutgoingStore(records);
  const client = connect(settings.url, {
    ...clientOptions(settings),
    clientId,
    clean: false,
    resubscribe: false,
    outgoingStore: store,
    ...willOf(settings),
  });
  client.setMaxListeners(0); // Each message on its way listens for the end.
  const down = new AbortController();
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  void closed.then(() => down.abort());
  // A broken frame leaves the reader of the stream in an unknown state: another connection begins anew.
  client.on('error', () => void client.end(true));
  client.on('packetreceive', (packet) => {
    if (packet.cmd === 'connack' && !packet.sessionPresent) store.forgetSession();
  });
  const taking = takeFrom(client, options.take, down.signal);
  const giveUp = (): void => void client.end(true);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    signal.throwIfAborted();
    await established(client);
    await subscribe(client, settings);
    await say(client, settings, 'online');
    signal.throwIfAborted();
  } catch (error) {
    client.end(true);
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  return {
    closed,
    publish: (part, topic, payload) =>
      publish({ client, store, qos: settings.qos }, part, { topic, payload }),
    publishNow: (topic, payload) => publishNow(client, topic, payload),
    async close() {
      // Nothing more is taken, and the broker keeps it: an error is no acknowledgement.
      client.handleMessage = (_, done) => done(new Error('closing'));
      down.abort(); // Nor is what cannot be stored tried again.
      await taking();
      await endGently(client, settings, closed);
    },
  };
}

function willOf({ statusTopic }: MqttSettings) {
  if (statusTopic === null) return {};
  return {
    will: { topic: statusTopic, payload: Buffer.from('offline'), qos: 1, retain: true },
  } as const;
}

/** Hands messages over, and returns what waits for the one in hand. */
function takeFrom(client: MqttClient, take: Take, signal: AbortSignal): () => Promise<void> {
  let inHand: Promise<void> = Promise.resolve();
  client.handleMessage = (packet, done) => {
    const publication: Publication = {
      topic: packet.topic,
      payload: Buffer.from(packet.payload),
      packet: packet.qos === 0 ? null : (packet.messageId ?? null),
      isRepeat: packet.dup,
      isRetained: packet.retain,
    };
    inHand = take(publication, signal).then((isTaken) => {
      if (isTaken) done();
    });
  };
  return () => inHand;
}

async function say(
  client: MqttClient,
  { statusTopic }: MqttSettings,
  status: 'online' | 'offline',
): Promise<void> {
  if (statusTopic === null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('close', resolve);
  client.publish(statusTopic, status, { qos: 1, retain: true }, () => resolve());
  await promise;
  client.off('close', resolve);
}

type Way = {
  readonly client: MqttClient;
  readonly store: OutgoingStore;
  readonly qos: 1 | 2;
};

function publish(
  { client, store, qos }: Way,
  part: PartName,
  { topic, payload }: { readonly topic: string; readonly payload: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(new MqttError('CLOSED', 'closed the connection.'));
    client.once('close', cut);
    const end = (error?: Error): void => {
      client.off('close', cut);
      if (error) reject(error);
      else resolve();
    };
    // Called before the first byte is on its way.
    const cbStorePut = (): void =>
      store.keep(part, { packet: client.getLastMessageId(), topic, payload, qos });
    client.publish(topic, payload, { qos, cbStorePut }, end);
  });
}

/** Nothing keeps it: where the connection ends before the broker has it, it is gone. */
function publishNow(client: MqttClient, topic: string, payload: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(new MqttError('CLOSED', 'closed the connection.'));
    if (!client.connected) return cut();
    client.once('close', cut);
    client.publish(topic, payload, { qos: 1 }, (error) => {
      client.off('close', cut);
      if (error) reject(error);
      else resolve();
    });
  });
}

async function endGently(
  client: MqttClient,
  settings: MqttSettings,
  closed: Promise<void>,
): Promise<void> {
  // MQTT.js waits for all acknowledgements, which a dead line does not bring; the broker then tells of the end by the will.
  const timer = setTimeout(() => client.stream.destroy(), GOODBYE_MS);
  if (client.connected) await say(client, settings, 'offline');
  client.end(!client.connected);
  await closed;
  clearTimeout(timer);
}
