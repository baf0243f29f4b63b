import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { z } from 'zod';

/** A way to the server that can be down: `cut` resets connections, `silent` keeps them and passes nothing. */
export type CuttingProxy = {
  readonly port: number;
  fail(how: 'cut' | 'silent'): void;
  heal(): void;
  close(): void;
};

/** Starts it on loopback. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  let isDown = false;
  const sockets = new Set<Socket>();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isDown) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    port,
    fail(how) {
      isDown = true;
      if (how === 'cut') return destroyAll();
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    heal() {
      isDown = false;
      destroyAll();
    },
    close() {
      server.close();
      destroyAll();
    },
  };
}
