import { randomBytes } from 'node:crypto';
import { settingsProblem } from '../channels/mqtt/access.ts';
import { brokerOf, MqttEnvironment, type MqttSettings } from '../channels/mqtt/settings.ts';
import { tryBroker } from '../channels/mqtt/try-broker.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import {
  defineExamination,
  type Examination,
  type Finding,
  ok,
  problem,
  type Subject,
} from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'mqtt';
const SET_UP = '`npx claw setup mqtt` asks for broker, user and topics, and tries them.';

/** The broker: whether it lets us in and read, who may write, and how the channel does. */
export const examination = mqttExamination(20_000);

/** @param timeoutMs how long the broker has to answer */
export function mqttExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 47,
    settings: MqttEnvironment,
    async examine(subject, own) {
      const broker = brokerOf(own);
      if (broker === null) return [ok(AREA, 'no broker yet', SET_UP)];
      const wrong = settingsProblem(broker);
      const others = [
        ...(wrong === null ? [] : [problem(AREA, wrong, SET_UP)]),
        ...openPassword(broker),
      ];
      if (subject.isOffline) return [ok(AREA, 'a broker is set; it was not asked'), ...others];
      const clientId = `${broker.clientId ?? 'patchclaw'}-${randomBytes(4).toString('hex')}`;
      const trial = await tryBroker(broker, { clientId, triesQos2: false, timeoutMs });
      if (!trial.ok) return [problem(AREA, trial.message, SET_UP), ...others];
      return [stateFinding(subject, broker), ...others];
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
  return [ok(AREA, 'the password goes over the network as it is', advice)];
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, { url }: MqttSettings): Finding {
  const broker = `the broker ${new URL(url).host} lets us in`;
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, broker);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${broker}, connected since ${since}`);
  const message = `${broker}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`npx claw logs --level warn` tells more.');
}
