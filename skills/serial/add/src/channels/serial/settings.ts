import { z } from 'zod';
import { NameList, oneOf, wholeNumber } from '../../lib/setting-values.ts';
import { parsePort, type SerialPort } from './port.ts';

const Port = z
  .string()
  .trim()
  .refine(
    (text) => parsePort(text) !== null,
    'must be a serial device such as /dev/ttyUSB0, or an address such as tcp://192.168.1.20:3333',
  );

/** Settings of the owner for the serial line. */
export const SerialEnvironment = z.object({
  SERIAL_ALLOW_FROM: NameList,
  SERIAL_BAUD: wholeNumber(50, 4_000_000).default(115_200),
  SERIAL_IS_OWNER: oneOf(['yes', 'no']).default('no'),
  SERIAL_MAX_CHARS: wholeNumber(100, 50_000).default(2_000),
  SERIAL_PLAIN_TEXT: oneOf(['yes', 'no']).default('yes'),
  SERIAL_PORT: Port.optional(),
});

/** The owner's line. */
export type SerialSettings = {
  readonly port: SerialPort;
  readonly baud: number;
  /** Senders that may write, or `*`. */
  readonly allowFrom: readonly string[];
  /** The owner is the sender of all messages on this line. */
  readonly isOwner: boolean;
  /** A line that is no JSON is a message. Otherwise it is noise, such as what a board prints while it boots. */
  readonly takesPlainText: boolean;
  /** The longest text in one line out. */
  readonly maxChars: number;
};

/** Returns the owner's line; null where no port is set. */
export function lineOf(settings: z.output<typeof SerialEnvironment>): SerialSettings | null {
  const port = parsePort(settings.SERIAL_PORT ?? '');
  if (port === null) return null;
  return {
    port,
    baud: settings.SERIAL_BAUD,
    allowFrom: settings.SERIAL_ALLOW_FROM,
    isOwner: settings.SERIAL_IS_OWNER === 'yes',
    takesPlainText: settings.SERIAL_PLAIN_TEXT === 'yes',
    maxChars: settings.SERIAL_MAX_CHARS,
  };
}
