import { chmod } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { makeAddress, removeAddress } from './address.ts';
import {
  type AssistantMessage,
  jsonLine,
  jsonLines,
  parseShellMessage,
  type ShellMessage,
} from './messages.ts';

/** Longer than anything a person says or pipes in as one message. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** A shell that does not read what it asked for is let go. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_SHELLS = 64;

/** A shell that is connected. */
export interface Shell {
  send(message: AssistantMessage): void;
}

/** Receivers of a shell's messages and its end. */
export type ShellEvents = {
  readonly onMessage: (message: ShellMessage) => void;
  /** It is gone; nothing that is sent to it arrives any more. */
  readonly onEnd: () => void;
};

export interface ControlServer {
  /** Lets all shells go, and takes the socket away. */
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket of the data folder, which only its owner can open: every connection has the
 * owner's rights. Lines of JSON go either way.
 *
 * Only the assistant that holds the data folder may call this: an existing socket is one of a dead assistant.
 */
export async function openControl(
  dataDir: string,
  onShell: (shell: Shell) => ShellEvents,
): Promise<ControlServer> {
  const path = await makeAddress(dataDir);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, onShell);
  });
  server.maxConnections = MAX_SHELLS;
  await listen(server, path);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // The last lines still go out, without waiting for a shell that does not read them.
      for (const socket of sockets) socket.destroySoon();
      await removeAddress(dataDir);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve);
  server.once('error', reject);
  // The socket is made within this call, and must not be open to others for a moment.
  const before = process.umask(0o177);
  server.listen(path);
  process.umask(before);
  await promise;
  // Later errors are those of single connections, which end by themselves.
  server.on('error', () => {});
  await chmod(path, 0o600);
}

function serve(socket: Socket, onShell: (shell: Shell) => ShellEvents): void {
  const send = (message: AssistantMessage): void => {
    if (!socket.writable) return;
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
    else socket.write(jsonLine(message));
  };
  const refuse = (message: string): void => {
    send({ kind: 'refused', message });
    socket.end();
    socket.off('data', read);
    // Reads and drops further input: the end of the connection would wait for it.
    socket.resume();
  };
  const events = onShell({ send });
  const read = jsonLines({
    maxBytes: MAX_MESSAGE_BYTES,
    onTooLong: () => refuse('A message may have 1 MB at most.'),
    onValue(value) {
      if (!socket.writable) return;
      const message = parseShellMessage(value);
      if (message === null) refuse('The assistant does not know this kind of message.');
      else events.onMessage(message);
    },
  });
  socket.on('data', read);
  // A connection that breaks is a shell that is gone, and `close` follows.
  socket.on('error', () => {});
  socket.on('close', events.onEnd);
}
