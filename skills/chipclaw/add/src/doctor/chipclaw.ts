import { ChipclawEnvironment } from '../lib/chipclaw-settings.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { defineExamination, type Finding, ok, problem, type Subject } from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'chipclaw';

/** The owner's devices: whether there is a way to each. Only the running assistant knows who is there. */
export const examination = defineExamination({
  area: AREA,
  order: 48,
  settings: ChipclawEnvironment,
  async examine(subject, { CHIPCLAW_DEVICES: devices = [] }) {
    if (devices.length === 0) {
      return [ok(AREA, 'no device yet', '`npx claw setup chipclaw` names yours.')];
    }
    return devices.map(({ name, jid }) => wayFinding(subject, name, jid));
  },
});

function wayFinding({ dataDir, environment }: Subject, name: string, jid: string): Finding {
  const [channel = ''] = jid.split(':');
  const needed = channel === 'serial' ? 'SERIAL_PORT' : 'MQTT_URL';
  if (!environment[needed]) {
    const advice = `Add the skill ${channel}, then \`npx claw setup ${channel}\`.`;
    return problem(AREA, `${name} is at ${jid}, and ${needed} is not set`, advice);
  }
  if (channel === 'mqtt' && !hasTopics(environment['MQTT_TOPICS'] ?? '', jid.slice(5))) {
    const example = `${jid.slice(5)}=chipclaw/out>chipclaw/in`;
    return problem(
      AREA,
      `${name} is at ${jid}, which has no topics`,
      `MQTT_TOPICS=${example} in .env gives it some.`,
    );
  }
  const last = isRunning(dataDir) ? lastChannelState(dataDir, channel) : null;
  if (last !== null && last.state !== 'connected') {
    return problem(
      AREA,
      `${name}: the channel ${channel} is ${last.state}`,
      last.detail ?? '`/status` tells more.',
    );
  }
  return ok(
    AREA,
    `${name} is reached at ${jid}`,
    '`/devices` in the chat tells whether it is there.',
  );
}

function hasTopics(map: string, chat: string): boolean {
  return map.split(',').some((entry) => entry.trim().startsWith(`${chat}=`));
}
