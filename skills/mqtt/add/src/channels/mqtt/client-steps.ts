import type { MqttClient } from 'mqtt';
import { MqttError } from './failure.ts';
import type { MqttSettings } from './settings.ts';
import { topicsIn } from './topics.ts';

/** Resolves when the broker has let us in, and has taken what was left over. */
export function established(client: MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
    client.once('close', () =>
      reject(new MqttError('CLOSED', 'closed the connection before it had let us in.')),
    );
  });
}

/**
 * Subscribes to all topics of the channel.
 *
 * @throws MqttError TOPIC_REFUSED where the broker does not let this user read one, CLOSED where it ended the connection
 */
export async function subscribe(client: MqttClient, settings: MqttSettings): Promise<void> {
  const topics = [...topicsIn(settings)];
  const granted = await client.subscribeAsync(topics, { qos: 1 }).catch((cause: unknown) => {
    if (!client.connected) throw new MqttError('CLOSED', 'closed the connection.', { cause });
    throw refused(topics, cause);
  });
  const denied = granted.filter(({ qos }) => qos >= 128).map(({ topic }) => topic);
  if (denied.length > 0) throw refused(denied);
}

function refused(topics: readonly string[], cause?: unknown): MqttError {
  return new MqttError(
    'TOPIC_REFUSED',
    `The broker does not let this user read ${topics.join(', ')}. Allow it there, or set other topics in .env.`,
    { cause },
  );
}
