import { createConnection, type Socket } from 'node:net';
import { findAddress } from './address.ts';
import {
  type AssistantMessage,
  jsonLine,
  jsonLines,
  parseAssistantMessage,
  type ShellMessage,
} from './messages.ts';

/** An answer can be long: an agent's may have a megabyte, and JSON makes more of it. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A connection to the running assistant. */
export interface Control {
  send(message: ShellMessage): void;
  /** Ends the connection; what was said is answered all the same, elsewhere. */
  close(): void;
}

export type ControlEvents = {
  readonly onMessage: (message: AssistantMessage) => void;
  /** The assistant has ended, or the connection was closed. */
  readonly onEnd: () => void;
};

/** Connects with the assistant that runs on a data folder; null when none does. */
export async function connectControl(
  dataDir: string,
  events: ControlEvents,
): Promise<Control | null> {
  const socket = await connected(await findAddress(dataDir));
  if (socket === null) return null;
  socket.on(
    'data',
    jsonLines({
      maxBytes: MAX_MESSAGE_BYTES,
      onTooLong: () => socket.destroy(),
      onValue(value) {
        const message = parseAssistantMessage(value);
        if (message !== null) events.onMessage(message);
      },
    }),
  );
  socket.on('close', events.onEnd);
  return {
    send: (message) => void socket.write(jsonLine(message)),
    close: () => void socket.end(),
  };
}

function connected(path: string): Promise<Socket | null> {
  const { promise, resolve } = Promise.withResolvers<Socket | null>();
  const socket = createConnection(path);
  socket.once('connect', () => resolve(socket));
  // No socket, or one that a killed assistant left: none runs. Later, `close` tells.
  socket.on('error', () => resolve(null));
  return promise;
}
