import { readdirSync } from 'node:fs';
import { allowListProblem } from '../channels/serial/access.ts';
import { statusOf } from '../channels/serial/failure.ts';
import { openLine } from '../channels/serial/open-line.ts';
import { nameOf, parsePort } from '../channels/serial/port.ts';
import { lineOf, SerialEnvironment } from '../channels/serial/settings.ts';
import { askAllowList, namesOf } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

const WRONG_IDS = 'Write the sender_id of your device. A line without one is from uart_user.';

type Context = SetupContext & OwnSettings<typeof SerialEnvironment.shape>;

/** Connects the assistant to a device on a serial line. */
export const setup = defineSetup({
  name: 'serial',
  help: 'connect the assistant to a device on a serial line, such as a microcontroller on USB',
  settings: SerialEnvironment,
  currentState({ settings }) {
    const line = lineOf(settings);
    if (line === null) return null;
    return `${nameOf(line.port)} at ${line.baud} baud, and ${namesOf(line.allowFrom)} may write`;
  },
  run: setUpSerial,
});

/** Asks for port, speed and senders, opens the line once, and only then writes `.env`. */
async function setUpSerial(context: Context): Promise<SetupOutcome> {
  const { settings, signal } = context;
  const found = devices();
  const known = settings.SERIAL_PORT ?? found[0];
  if (found.length > 0) context.say(`Plugged in: ${found.join(', ')}.`);
  const baud = await context.ask({
    message: 'The speed of the line, in baud',
    proposed: String(settings.SERIAL_BAUD),
    check: (typed) =>
      SerialEnvironment.shape.SERIAL_BAUD.safeParse(typed).success
        ? null
        : 'A speed is a number from 50 to 4000000, such as 115200.',
  });
  const typed = await context.ask({
    message:
      'The device (/dev/ttyUSB0), or the address of a server that hands it on (tcp://host:port)',
    ...(known === undefined ? {} : { proposed: known }),
    check: (port) => problemOf(port.trim(), Number(baud), signal),
  });
  const allowFrom = await askAllowList(context.ask, {
    message:
      'Who may write: the sender_id of your device (uart_user where it sends none), with commas between',
    proposed: settings.SERIAL_ALLOW_FROM.join(',') || 'uart_user',
    check: (list) => (allowListProblem(list) === null ? null : WRONG_IDS),
  });
  const port = typed.trim();
  context.write({
    SERIAL_PORT: port,
    SERIAL_BAUD: baud.trim(),
    SERIAL_ALLOW_FROM: allowFrom.join(','),
  });
  return {
    summary: `${port} opens at ${baud} baud; ${namesOf(allowFrom)} may write. .env holds it.`,
    data: { port, baud: Number(baud), allowFrom },
  };
}

/** Opens the line and closes it again. */
async function problemOf(typed: string, baud: number, signal: AbortSignal): Promise<string | null> {
  const port = parsePort(typed);
  if (port === null)
    return 'Type a device such as /dev/ttyUSB0, or an address such as tcp://10.0.0.5:3333.';
  try {
    const line = await openLine({ port, baud, signal, onData: () => {} });
    line.close();
    await line.closed;
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return statusOf(error, port).detail;
  }
}

/** Lists serial devices: by names that stay where they can be had, else by their present ones. */
function devices(): readonly string[] {
  const stable = namesIn('/dev/serial/by-id', /./);
  return stable.length > 0 ? stable : namesIn('/dev', /^(tty(USB|ACM)\d+|cu\.usb.+)$/);
}

function namesIn(folder: string, pattern: RegExp): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .sort()
      .map((name) => `${folder}/${name}`);
  } catch {
    return []; // None is plugged in.
  }
}
