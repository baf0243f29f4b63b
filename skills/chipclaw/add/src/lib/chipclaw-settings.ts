import { z } from 'zod';
import { NameList, wholeNumber } from './setting-values.ts';

/** A device of the owner's: its name, and the chat on whose way it is reached. */
export type KnownDevice = { readonly name: string; readonly jid: string };

const ENTRY = /^(?:([a-z][a-z0-9-]{0,19})=)?((?:serial|mqtt):[^\s,=]{1,128})$/;
/** The name of a device that has none of its own. */
const NAME = 'device';

/** Reads the owner's list: `serial:uart_default`, or `lamp=mqtt:lamp`, with commas between. Null where it cannot be used. */
export function devicesIn(typed: string): readonly KnownDevice[] | null {
  const devices: KnownDevice[] = [];
  for (const entry of typed.split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const [, name = NAME, jid = ''] = ENTRY.exec(entry) ?? [];
    const isTwice = devices.some((other) => other.name === name || other.jid === jid);
    if (jid === '' || isTwice) return null;
    devices.push({ name, jid });
  }
  return devices;
}

const WRONG =
  'must be addresses such as serial:uart_default, or with a name each, lamp=mqtt:lamp, none of them twice';

const Devices = z.string().transform((typed, context) => {
  const devices = devicesIn(typed);
  if (devices !== null) return devices;
  context.addIssue({ code: 'custom', message: WRONG });
  return z.NEVER;
});

/** Settings of the owner for devices. */
export const ChipclawEnvironment = z.object({
  CHIPCLAW_ASK: NameList.default(['exec_micropython', 'reset', 'write_file']),
  CHIPCLAW_DEVICES: Devices.optional(),
  CHIPCLAW_GROUPS: NameList,
  CHIPCLAW_TIMEOUT_SECONDS: wholeNumber(1, 600).default(60),
});
