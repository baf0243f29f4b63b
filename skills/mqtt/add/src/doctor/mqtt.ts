import { randomBytes } from 'node:crypto';
import { settingsProblem } from '../channels/mqtt/access.ts';
import { brokerOf, MqttEnvironment, type MqttSettings } from '../channels/mqtt/settings.ts';
import { tryBroker } from '../channels/mqtt/try-broker.ts';
import { defineChannelExamination } from './channel-examination.ts';
import { type Examination, type Finding, ok } from './examination.ts';

/** The broker: whether it lets us in and read, who may write, and how the channel does. */
export const examination = mqttExamination(20_000);

/** @param timeoutMs how long the broker has to answer */
export function mqttExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'mqtt',
    order: 47,
    settings: MqttEnvironment,
    setUp: '`npx claw setup mqtt` asks for broker, user and topics, and tries them.',
    absent: 'no broker yet',
    accountOf: brokerOf,
    problemOf: settingsProblem,
    untried: () => 'a broker is set; it was not asked',
    remarks: openPassword,
    async tryAccount(broker) {
      const clientId = `${broker.clientId ?? 'patchclaw'}-${randomBytes(4).toString('hex')}`;
      const trial = await tryBroker(broker, { clientId, triesQos2: false, timeoutMs });
      if (!trial.ok) return trial;
      return { ok: true, message: `the broker ${new URL(broker.url).host} lets us in` };
    },
  });
}

/** A password that everybody on the way can read. */
function openPassword({ url, password }: MqttSettings): readonly Finding[] {
  const { protocol, hostname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isPlain = protocol === 'mqtt:' || protocol === 'ws:';
  if (password === null || !isPlain || isLocal) return [];
  const advice = 'Where the broker has TLS, write mqtts:// in MQTT_URL.';
  return [ok('mqtt', 'the password goes over the network as it is', advice)];
}
