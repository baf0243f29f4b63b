import type { Socket } from 'node:net';

/** The most connections of all peers together, and of one of them. */
export type ConnectionLimits = { readonly total: number; readonly perPeer: number };

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
 * At a limit, the connection that has waited longest without a complete request is closed in favour of the new one: of the
 * same peer at the limit of a peer. An honest request is complete within milliseconds, so a crowd of half-open
 * connections pushes itself out. Only when all connections are at work is the new one refused.
 */
export function createConnections({ total, perPeer }: ConnectionLimits): Connections {
  /** The peers of connections that wait, the longest first, and of those at work. */
  const waiting = new Map<Socket, string>();
  const working = new Map<Socket, string>();

  function admit(socket: Socket, peer: string): void {
    const isOfPeer = (one: string): boolean => one === peer;
    if (countOf(isOfPeer) >= perPeer) makeRoom(socket, isOfPeer);
    else if (countOf(() => true) >= total) makeRoom(socket, () => true);
  }

  function countOf(isMeant: (peer: string) => boolean): number {
    return [...waiting.values(), ...working.values()].filter(isMeant).length;
  }

  function makeRoom(socket: Socket, isMeant: (peer: string) => boolean): void {
    const [oldest] = [...waiting].find(([, peer]) => isMeant(peer)) ?? [socket];
    waiting.delete(oldest);
    oldest.destroy();
  }

  return {
    open(socket) {
      const peer = socket.remoteAddress ?? '';
      admit(socket, peer);
      if (socket.destroyed) return;
      waiting.set(socket, peer);
      socket.once('close', () => {
        waiting.delete(socket);
        working.delete(socket);
      });
    },
    work(socket) {
      const peer = waiting.get(socket);
      if (peer === undefined) return;
      waiting.delete(socket);
      working.set(socket, peer);
    },
    rest(socket) {
      const peer = working.get(socket);
      if (peer === undefined) return;
      working.delete(socket);
      waiting.set(socket, peer);
    },
  };
}
