import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, TOKEN_HEADER } from '../../../src/sandbox/protocol/endpoint.ts';

const ATTEMPTS = 20;
const PAUSE_MS = 50;

// By hand, because loading node:http takes as long as starting the rest of the agent.
const REQUEST =
  'GET /frames HTTP/1.1\r\nHost: host\r\nConnection: Upgrade\r\nUpgrade: claw-frames\r\n';
const END_OF_HEAD = '\r\n\r\n';

/** The host if it is reached by TCP; otherwise the path of a socket. */
export type TcpHost = Extract<Endpoint, { kind: 'tcp' }>;

/** Opens the stream of frames. The socket may appear a moment after the container does. */
export async function connectToHost(host: string | TcpHost): Promise<Duplex> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await upgrade(host);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function upgrade(host: string | TcpHost): Promise<Duplex> {
  const stream = typeof host === 'string' ? connect(host) : connect(host.port, host.host);
  const token = typeof host === 'string' ? '' : `${TOKEN_HEADER}: ${host.token}\r\n`;
  try {
    stream.write(`${REQUEST}${token}\r\n`);
    const head = await headOf(stream);
    if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(`the host answered ${head}`);
    return stream;
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** Reads up to the end of the head; what came along with it stays in the stream. */
async function headOf(stream: Socket): Promise<string> {
  let received = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) {
      await once(stream, 'readable');
      if (stream.readableEnded) throw new Error('the host closed the connection');
      continue;
    }
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf(END_OF_HEAD);
    if (end === -1) continue;
    const rest = received.subarray(end + END_OF_HEAD.length);
    if (rest.length > 0) stream.unshift(rest);
    return received.toString('latin1', 0, end);
  }
}
