import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { close, constants, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { isatty, ReadStream } from 'node:tty';
import { SerialError } from './failure.ts';
import { nameOf, type SerialPort } from './port.ts';

/** A line that is open, until the signal or the far end closes it. */
export interface Line {
  /** Rejects where the line went down before it had taken the text. */
  write(text: string): Promise<void>;
  /** Holds back what the device sends, as far as the system's own buffer lasts, or lets it come again. */
  hold(isHeld: boolean): void;
  /** Resolves when the line is down, from either end. */
  readonly closed: Promise<void>;
  close(): void;
}

export type LineOptions = {
  readonly port: SerialPort;
  readonly baud: number;
  readonly onData: (chunk: Uint8Array) => void;
  readonly signal: AbortSignal;
};

/**
 * Opens a line: a serial device, set to the speed and to pass each byte as it is, or a TCP connection.
 *
 * @throws SerialError, or the system's own error where the device is not there or may not be opened
 */
export async function openLine(options: LineOptions): Promise<Line> {
  const stream = options.port.kind === 'tcp' ? await dial(options) : await openDevice(options);
  return lineOn(stream, options);
}

async function dial({ port, signal }: LineOptions): Promise<Socket> {
  if (port.kind !== 'tcp') throw new TypeError('Only a TCP port is dialled.');
  const socket = connect({ host: port.host, port: port.port, keepAlive: true, noDelay: true });
  const abort = (): void => void socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Opens a device by Node's own means: a tty stream waits for bytes without a thread or a poll, and `stty`, which every
 * Unix has, sets the speed on the open device.
 */
async function openDevice({ port, baud }: LineOptions): Promise<Socket> {
  const name = nameOf(port);
  const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
  const handle = openSync(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
  try {
    if (!isatty(handle)) throw new SerialError('NOT_A_LINE', `${name} is not a serial line.`);
    await setUp(handle, { name, baud });
    // Reads and writes: Node's `WriteStream` would block everything else while a slow line takes a long text.
    return new ReadStream(handle);
  } catch (error) {
    close(handle);
    throw error;
  }
}

/** `-hupcl` keeps boards such as Arduinos from being reset when the line is closed. */
const RAW = ['raw', '-echo', 'cs8', '-cstopb', '-parenb', 'clocal', 'cread', '-crtscts', '-hupcl'];

async function setUp(
  handle: number,
  { name, baud }: { readonly name: string; readonly baud: number },
): Promise<void> {
  const child = spawn('stty', [String(baud), ...RAW], { stdio: [handle, 'ignore', 'pipe'] });
  const said = child.stderr === null ? Promise.resolve('') : text(child.stderr);
  const [code] = await once(child, 'close').catch((cause: unknown) => {
    throw new SerialError('NO_STTY', 'The program stty is missing, which sets the speed.', {
      cause,
    });
  });
  if (code === 0) return;
  const reason = (await said).trim().split('\n')[0] ?? '';
  throw new SerialError('BAUD', `${name} cannot be set to ${baud} baud (${reason}).`);
}

function lineOn(stream: Socket, { onData, signal }: LineOptions): Line {
  const abort = (): void => void stream.destroy();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  void closed.then(() => signal.removeEventListener('abort', abort));
  // The end of the line is told by `closed`, and a write that failed by its own promise.
  stream.on('error', () => {});
  stream.on('end', () => stream.destroy());
  stream.on('data', onData);
  return {
    closed,
    write: (line) =>
      new Promise((resolve, reject) => {
        const gone = (): void =>
          reject(new SerialError('NOT_CONNECTED', 'The serial line went down.'));
        if (stream.destroyed) return gone();
        stream.once('close', gone);
        stream.write(line, (error) => {
          stream.off('close', gone);
          if (error) reject(error);
          else resolve();
        });
      }),
    hold(isHeld) {
      if (isHeld) stream.pause();
      else stream.resume();
    },
    close: abort,
  };
}
