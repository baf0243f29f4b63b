import { defineGuard } from '../host/contracts/guard.ts';
import { ChipclawEnvironment } from '../lib/chipclaw-settings.ts';

/** The owner is asked before a device runs a program, writes on its flash or starts anew, and before what else they list. */
export const guard = defineGuard({
  name: 'chipclaw',
  order: 400,
  settings: ChipclawEnvironment,
  needs: ['CHIPCLAW_DEVICES'],
  create({ settings: { CHIPCLAW_DEVICES: devices, CHIPCLAW_ASK: tools } }) {
    if (devices === undefined) return null;
    return {
      before({ tool, runsIn }) {
        const device = devices.find(({ name }) => tool.name.startsWith(`${name}__`));
        if (device === undefined || runsIn === 'container') return { kind: 'allow' };
        const name = tool.name.slice(device.name.length + 2);
        return tools.includes('*') || tools.includes(name)
          ? { kind: 'ask', reason: `It changes the device ${device.name}.` }
          : { kind: 'allow' };
      },
    };
  },
});
