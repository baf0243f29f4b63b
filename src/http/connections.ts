import type { Socket } from 'node:net';

/** The open connections of the server. Whoever only holds them open cannot keep others out. */
export interface Connections {
  /** Admits a new connection. It counts as waiting until a request of it is complete. */
  open(socket: Socket): void;
  /** Notes that a connection's request is complete, so that the connection is not closed for others. */
  work(socket: Socket): void;
  /** Notes that a connection has its answer and waits for its next request. */
  rest(socket: Socket): void;
}

/**
 * Creates the register of the open connections.
 *
 * At the limit, the connection that has waited longest without a complete request is closed in favour of the new one. An
 * honest request is complete within milliseconds, so a crowd of half-open connections pushes itself out. Only when all
 * connections are at work is the new one refused. Peers are not told apart: everybody comes from this machine, also
 * through a proxy.
 */
export function createConnections(limit: number): Connections {
  /** Connections that wait, the longest first, and those at work. */
  const waiting = new Set<Socket>();
  const working = new Set<Socket>();

  return {
    open(socket) {
      if (waiting.size + working.size >= limit) {
        const [oldest = socket] = waiting;
        waiting.delete(oldest);
        oldest.destroy();
      }
      if (socket.destroyed) return;
      waiting.add(socket);
      socket.once('close', () => {
        waiting.delete(socket);
        working.delete(socket);
      });
    },
    work(socket) {
      if (waiting.delete(socket)) working.add(socket);
    },
    rest(socket) {
      if (working.delete(socket)) waiting.add(socket);
    },
  };
}
