import { chmod, chown } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ModelProxyParts, type PayingTurn, proxyModelCall } from '../../model/proxy.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import { socketPath } from './socket-folder.ts';

/** One for frames and a few for calls of the model, each of which may hold a long request. */
const MAX_CONNECTIONS = 32;

export type GroupServerParts = {
  readonly socketDir: string;
  readonly user: AgentUser;
  readonly proxy: ModelProxyParts;
  /** The turn that runs now, which pays for model calls; null refuses them. */
  readonly currentTurn: () => PayingTurn | null;
  /** Called once, with the agent's stream of frames. Whoever comes later is refused. */
  readonly onAgent: (stream: Duplex) => void;
};

export type GroupServer = { close(): Promise<void> };

/**
 * Listens on one group's socket: frames for the agent, the model for its calls, nothing else.
 *
 * Whoever connects here is this group, because only this group's container holds the socket.
 */
export async function openGroupServer(parts: GroupServerParts): Promise<GroupServer> {
  const server = createServer((request, response) => {
    const turn = parts.currentTurn();
    // A stream that breaks on either side has been answered, or has nobody left to answer.
    proxyModelCall(request, response, { ...parts.proxy, turn }).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  let agent: Duplex | null = null;
  server.on('upgrade', (request: IncomingMessage, stream: Duplex) => {
    stream.on('error', () => stream.destroy());
    if (!isFrameRequest(request) || agent !== null) return refuseUpgrade(stream);
    agent = stream;
    stream.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: claw-frames\r\n\r\n',
    );
    parts.onAgent(stream);
  });
  await listen(server, parts);
  return {
    close() {
      agent?.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function isFrameRequest(request: IncomingMessage): boolean {
  const { method, url, headers } = request;
  return method === 'GET' && url === '/frames' && headers.upgrade === 'claw-frames';
}

function refuseUpgrade(stream: Duplex): void {
  stream.end('HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
}

async function listen(
  server: ReturnType<typeof createServer>,
  { socketDir, user }: GroupServerParts,
): Promise<void> {
  const path = socketPath(socketDir);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
}
