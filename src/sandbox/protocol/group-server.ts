import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, chown } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PayingTurn } from '../../model/metering/paying-turn.ts';
import { type ModelProxyParts, proxyModelCall } from '../../model/proxy.ts';
import type { Transport } from '../engines/engine.ts';
import type { AgentUser } from '../mounts/ownership.ts';
import { type Endpoint, TOKEN_HEADER } from './endpoint.ts';
import { socketPath } from './socket-folder.ts';

/** One for frames and a few for calls of the model, each of which may hold a long request. */
const MAX_CONNECTIONS = 32;

export type GroupServerParts = {
  /** The folder of the socket, where the transport is one. */
  readonly socketDir: string;
  /** A socket by default. */
  readonly transport?: Transport;
  readonly user: AgentUser;
  readonly proxy: ModelProxyParts;
  /** The turn that runs now, which pays for model calls; null refuses them. */
  readonly currentTurn: () => PayingTurn | null;
  /** Called once, with the agent's stream of frames. Later connections are refused. */
  readonly onAgent: (stream: Duplex) => void;
};

export type GroupServer = {
  /** The way to it from inside the container. */
  readonly endpoint: Endpoint;
  close(): Promise<void>;
};

/**
 * Listens for one group: frames for its agent, the model for its calls, nothing else.
 *
 * A client is this group's container, because only that holds the socket, or the token.
 */
export async function openGroupServer(parts: GroupServerParts): Promise<GroupServer> {
  const transport = parts.transport ?? { kind: 'socket' };
  const token = transport.kind === 'tcp' ? randomBytes(32).toString('hex') : null;
  const server = createServer((request, response) => {
    if (!showsToken(request, token)) return void response.writeHead(401).end();
    const turn = parts.currentTurn();
    // A stream that breaks on either side has been answered, or has no client left.
    proxyModelCall(request, response, { ...parts.proxy, turn }).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  let agent: Duplex | null = null;
  server.on('upgrade', (request: IncomingMessage, stream: Duplex) => {
    stream.on('error', () => stream.destroy());
    if (!showsToken(request, token)) return refuseUpgrade(stream, '401 Unauthorized');
    if (!isFrameRequest(request) || agent !== null) return refuseUpgrade(stream, '409 Conflict');
    agent = stream;
    stream.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: claw-frames\r\n\r\n',
    );
    parts.onAgent(stream);
  });
  const port = await listen(server, transport, parts);
  return {
    endpoint:
      transport.kind === 'tcp' && token !== null
        ? { kind: 'tcp', host: transport.host, port, token }
        : { kind: 'socket' },
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

/** Compares in constant time. Where there is no token, the socket is proof enough. */
function showsToken({ headers }: IncomingMessage, token: string | null): boolean {
  if (token === null) return true;
  const shown = Buffer.from(String(headers[TOKEN_HEADER] ?? ''));
  const wanted = Buffer.from(token);
  return shown.length === wanted.length && timingSafeEqual(shown, wanted);
}

function refuseUpgrade(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Returns the port; 0 for a socket. */
async function listen(
  server: ReturnType<typeof createServer>,
  transport: Transport,
  { socketDir, user }: GroupServerParts,
): Promise<number> {
  if (transport.kind === 'tcp') {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, transport.listen, resolve);
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
  const path = socketPath(socketDir);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
  return 0;
}
