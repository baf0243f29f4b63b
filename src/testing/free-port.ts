import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port that was free a moment ago, for a server that is told its port. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
