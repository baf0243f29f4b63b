import { z } from 'zod';
import { NameList, oneOf, wholeNumber } from '../../lib/setting-values.ts';
import { parseTopicMap, type TopicPair } from './topics.ts';

/** Way of an address to a broker: over TCP or a WebSocket, plain or in TLS. */
const SCHEMES = ['mqtt:', 'mqtts:', 'ws:', 'wss:'];

/** Says in a sentence what is wrong with the address of a broker; null for nothing. */
export function problemOfBroker(typed: string): string | null {
  const example = 'such as mqtt://192.168.1.10, or mqtts://broker.example.org:8883';
  const url = URL.canParse(typed) ? new URL(typed) : null;
  // A pasted `mqtt://mqtt://host` would be a host called mqtt.
  const isDoubled = url?.pathname.startsWith('//') === true;
  if (url === null || isDoubled || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    return `The address of a broker begins with mqtt://, mqtts://, ws:// or wss://, ${example}.`;
  }
  if (url.username !== '' || url.password !== '') {
    return `User and password have settings of their own: write the address without them, ${example}.`;
  }
  return null;
}

const Broker = z
  .string()
  .trim()
  .refine((text) => problemOfBroker(text) === null, {
    error:
      'must be the address of a broker, such as mqtt://192.168.1.10, without user and password',
  });
const Topic = z
  .string()
  .trim()
  .regex(/^[^+#\0]{1,500}$/, 'must be the name of a topic, without + and #');

/** Settings of the owner for MQTT. */
export const MqttEnvironment = z.object({
  MQTT_ALLOW_FROM: NameList,
  MQTT_CA_FILE: z.string().trim().optional(),
  MQTT_CERT_FILE: z.string().trim().optional(),
  MQTT_CLIENT_ID: z.string().trim().max(128).optional(),
  MQTT_KEY_FILE: z.string().trim().optional(),
  MQTT_MAX_CHARS: wholeNumber(100, 200_000).default(4_000),
  MQTT_PASSWORD: z.string().optional(),
  MQTT_QOS: oneOf(['1', '2']).default('2'),
  MQTT_STATUS_TOPIC: Topic.default('patchclaw/status'),
  MQTT_TOPICS: z.string().default(''),
  MQTT_TOPIC_IN: Topic.default('patchclaw/in'),
  MQTT_TOPIC_OUT: Topic.default('patchclaw/out'),
  MQTT_URL: Broker.optional(),
  MQTT_USERNAME: z.string().optional(),
});

/** Files of a TLS connection, by their paths. */
export type TlsFiles = {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
};

/** The owner's broker, and the topics there. */
export type MqttSettings = {
  readonly url: string;
  readonly username: string | null;
  readonly password: string | null;
  /** Null for one that is made here and kept. */
  readonly clientId: string | null;
  readonly tls: TlsFiles;
  /** Sender ids, or `*`. */
  readonly allowFrom: readonly string[];
  /** The topics whose messages may name their chat themselves. */
  readonly open: Omit<TopicPair, 'chat'>;
  /** Topics that are a chat each. */
  readonly mapped: readonly TopicPair[];
  /** The fault in the map of topics; null for none. */
  readonly mapProblem: string | null;
  /** The topic that says `online` or `offline`; null for none. */
  readonly statusTopic: string | null;
  /** The quality of service of what is published. */
  readonly qos: 1 | 2;
  readonly maxChars: number;
};

/** Returns the owner's broker; null where none is set. */
export function brokerOf(settings: z.output<typeof MqttEnvironment>): MqttSettings | null {
  const { MQTT_URL: url, MQTT_TOPIC_IN: topicIn, MQTT_TOPIC_OUT: topicOut } = settings;
  if (url === undefined) return null;
  const open = { topicIn, topicOut };
  const map = parseTopicMap(settings.MQTT_TOPICS, open);
  return {
    url,
    username: settings.MQTT_USERNAME ?? null,
    password: settings.MQTT_PASSWORD ?? null,
    clientId: settings.MQTT_CLIENT_ID ?? null,
    tls: {
      ca: settings.MQTT_CA_FILE ?? null,
      cert: settings.MQTT_CERT_FILE ?? null,
      key: settings.MQTT_KEY_FILE ?? null,
    },
    allowFrom: settings.MQTT_ALLOW_FROM,
    open,
    mapped: map.pairs,
    mapProblem: map.problem,
    statusTopic: settings.MQTT_STATUS_TOPIC === 'none' ? null : settings.MQTT_STATUS_TOPIC,
    qos: settings.MQTT_QOS === '1' ? 1 : 2,
    maxChars: settings.MQTT_MAX_CHARS,
  };
}
