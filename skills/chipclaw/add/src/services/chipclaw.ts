import { join } from 'node:path';
import { z } from 'zod';
import { defineService } from '../host/contracts/service.ts';
import { ChipclawEnvironment } from '../lib/chipclaw-settings.ts';
import { Device } from './chipclaw/device.ts';
import { toolsOf } from './chipclaw/device-tools.ts';
import { deviceFrameIn } from './chipclaw/frames.ts';
import { updateDevice } from './chipclaw/own-code.ts';

const BoardRequest = z.union([
  z.object({ list: z.literal(true) }),
  z.object({ update: z.string() }),
]);

/** Devices of the owner's on a serial line or a broker: their tools are the assistant's while they are there. */
export const service = defineService({
  name: 'chipclaw',
  settings: ChipclawEnvironment,
  needs: ['CHIPCLAW_DEVICES'],
  start({ settings, sendFrame, setTimer, now, newId, readGroupFile, groupsDir }) {
    const timeoutMs = settings.CHIPCLAW_TIMEOUT_SECONDS * 1_000;
    const parts = { send: sendFrame, setTimer, now, newId, timeoutMs };
    const devices = (settings.CHIPCLAW_DEVICES ?? []).map((known) => new Device(known, parts));
    const groups = settings.CHIPCLAW_GROUPS;
    const reach =
      groups.length === 0 ? { isMainOnly: true } : { isMainOnly: false, folders: groups };
    const list = (): string => devices.map(lineOf).join('\n');
    return {
      stop() {
        for (const device of devices) device.gone('was left');
      },
      status() {
        const there = devices.filter(({ present }) => present !== null).map(({ name }) => name);
        return `${there.length} of ${devices.length} devices connected${there.length === 0 ? '' : `: ${there.join(', ')}`}`;
      },
      tools: () => devices.flatMap((device) => toolsOf(device, reach, readGroupFile)),
      onFrame({ jid, body }) {
        const device = devices.find((one) => one.jid === jid);
        const frame = deviceFrameIn(body);
        if (device !== undefined && frame !== null) device.take(frame);
        return device !== undefined;
      },
      onLink(channel, isConnected) {
        for (const device of devices.filter(({ jid }) => jid.startsWith(`${channel}:`))) {
          if (isConnected) device.ask();
          else device.gone('cannot be reached');
        }
      },
      async onCall(request, { signal }) {
        const asked = BoardRequest.parse(request);
        if ('list' in asked) return list();
        const device = devices.find(({ name }) => name === asked.update);
        if (device === undefined) return `There is no device ${asked.update}.\n\n${list()}`;
        return await updateDevice(device, join(groupsDir, '../device'), signal);
      },
    };
  },
});

function lineOf({ name, jid, present }: Device): string {
  if (present === null) return `- ${name} (${jid}): not connected`;
  const { version, tools, free } = present;
  const memory = free === null ? '' : `, ${Math.round(free / 1_024)} KB of RAM free`;
  return `- ${name} (${jid}): connected, chipclaw ${version}, ${tools.length} tools${memory}`;
}
