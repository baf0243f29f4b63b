import type { ChannelStatus } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';
import { nameOf, type SerialPort } from './port.ts';

/** A failure of the serial line. The message says what to do. */
export class SerialError extends Error {
  override readonly name = 'SerialError';
  readonly code: 'GONE' | 'NOT_A_LINE' | 'NOT_CONNECTED' | 'NO_STTY' | 'BAUD';

  constructor(code: SerialError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Says what is wrong with a line that could not be opened. It is tried again in every case. */
export function statusOf(error: unknown, port: SerialPort): ChannelStatus {
  const name = nameOf(port);
  if (error instanceof SerialError) {
    return { state: error.code === 'GONE' ? 'connecting' : 'failed', detail: error.message };
  }
  const code = codeOf(error);
  switch (code) {
    case 'ENOENT':
    case 'ENXIO':
    case 'ENODEV':
    case 'EIO':
      return { state: 'connecting', detail: `${name} is not there. Plug the device in.` };
    case 'EACCES':
    case 'EPERM':
      return {
        state: 'failed',
        detail:
          `${name} may not be opened. Add yourself to its group, such as by \`sudo usermod -aG dialout $USER\`, ` +
          'and log in again.',
      };
    case 'EBUSY':
      return { state: 'failed', detail: `${name} is in use by another program. Close that.` };
    default:
      return { state: 'failed', detail: `${name} cannot be opened (${causeInWords(code)}).` };
  }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
