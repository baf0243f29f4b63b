import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DAEMON = '/var/run/docker.sock';

/** A way to the real Docker daemon that can go silent, as a daemon that hangs does. */
export type DockerLine = AsyncDisposable & {
  /** For `DOCKER_HOST`. */
  readonly address: string;
  /** From now on nothing passes, and every connection stays open. */
  freeze(): void;
};

/** Opens a line on a socket of its own. */
export async function openDockerLine(): Promise<DockerLine> {
  const path = join(tmpdir(), `claw-docker-${process.pid}-${Date.now()}.sock`);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client);
    if (isFrozen) return;
    const daemon = keep(connect({ path: DAEMON, allowHalfOpen: true }));
    client.pipe(daemon).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    address: `unix://${path}`,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(path, { force: true });
    },
  };
}
