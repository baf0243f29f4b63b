import { ChipclawEnvironment, devicesIn } from '../lib/chipclaw-settings.ts';
import { defineSetup } from './step.ts';

/** Names the owner's devices, on ways that the channels serial and mqtt have. */
export const setup = defineSetup({
  name: 'chipclaw',
  help: 'name the microcontrollers whose tools the assistant may use',
  settings: ChipclawEnvironment,
  currentState: ({ settings: { CHIPCLAW_DEVICES: devices } }) =>
    devices === undefined || devices.length === 0
      ? null
      : devices.map(({ name, jid }) => `${name} at ${jid}`).join(', '),
  async run({ ask, say, write, settings }) {
    say(
      'A board on the serial line is serial:uart_default; one on a broker is mqtt:<chat of MQTT_TOPICS>.',
    );
    const present = settings.CHIPCLAW_DEVICES?.map(({ name, jid }) => `${name}=${jid}`).join(',');
    const typed = await ask({
      message: 'Your devices: an address, or name=address with commas between',
      proposed: present || 'serial:uart_default',
      check: problemOf,
    });
    const devices = devicesIn(typed) ?? [];
    write({ CHIPCLAW_DEVICES: typed.trim() });
    const ways = [...new Set(devices.map(({ jid }) => jid.split(':')[0] ?? ''))];
    return {
      summary:
        `${devices.map(({ name }) => name).join(', ')}: written to .env. After \`/restart\`, \`/devices\` shows who is there. ` +
        `The way is the skill ${ways.join(' and ')}, with a set-up of its own.`,
      data: { devices },
    };
  },
});

function problemOf(typed: string): string | null {
  const devices = devicesIn(typed);
  if (devices !== null && devices.length > 0) return null;
  return 'Write serial:uart_default, or lamp=mqtt:lamp,door=mqtt:door: no name and no address twice.';
}
