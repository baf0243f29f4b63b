import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { z } from 'zod';

/** Where a proxy listens or what it dials. */
export type ProxyEnd = { readonly host: string; readonly port: number };

/** A way to the server that can be down: `cut` resets connections, `silent` keeps them and passes nothing. */
export type CuttingProxy = {
  readonly port: number;
  fail(how: 'cut' | 'silent'): void;
  heal(): void;
  close(): void;
};

/** Starts it. @param delayMs what passes arrives so much later, in each direction */
export async function startCuttingProxy(
  target: ProxyEnd,
  at: ProxyEnd = { host: '127.0.0.1', port: 0 },
  delayMs = 0,
): Promise<CuttingProxy> {
  let isDown = false;
  const sockets = new Set<Socket>();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isDown) return void near.destroy();
    const far = connect(target.port, target.host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    if (delayMs === 0) near.pipe(far).pipe(near);
    else {
      near.pipe(later(delayMs)).pipe(far);
      far.pipe(later(delayMs)).pipe(near);
    }
  });
  server.listen(at.port, at.host);
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

/** Passes everything on after a while. */
function later(delayMs: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      setTimeout(() => this.destroyed || this.push(chunk), delayMs);
      done();
    },
    flush(done) {
      setTimeout(done, delayMs);
    },
  });
}
