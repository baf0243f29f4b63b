import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS = 20;
const PAUSE_MS = 50;

/** Opens the stream of frames. The socket may appear a moment after the container does. */
export async function connectToHost(socketPath: string): Promise<Duplex> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await upgrade(socketPath);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

function upgrade(socketPath: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath,
      path: '/frames',
      headers: { connection: 'Upgrade', upgrade: 'claw-frames' },
    });
    asked.once('upgrade', (_response, stream, head) => {
      // The first frame may have come along with the host's consent.
      if (head.length > 0) stream.unshift(head);
      resolve(stream);
    });
    asked.once('response', (response) => {
      response.resume();
      reject(new Error(`the host answered ${response.statusCode}`));
    });
    asked.once('error', reject);
    asked.end();
  });
}
