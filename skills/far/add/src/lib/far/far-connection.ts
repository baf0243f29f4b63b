import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';

export type FarAddress = {
  readonly host: string;
  readonly port: number;
  readonly certificate: string;
  readonly seed: string;
};

/** A connection to the server that comes back by itself. */
export type FarConnection = {
  readonly isUp: boolean;
  /** What the client's other packages work with, such as its work queues. */
  readonly nats: NatsConnection;
  /** Sends, or drops while the server is away: links above repeat. */
  publish(subject: string, message: Uint8Array | string): void;
  subscribe(subject: string, onMessage: (subject: string, message: Buffer) => void): void;
  /** Waits until all that was sent is with the server. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export type FarConnectionParts = FarAddress & {
  readonly onUp: () => void;
  /** The server has refused this key for good. */
  readonly onRefused: (reason: string) => void;
  /** Waits for the server for as long as it takes, at first and whenever the connection is lost. */
  readonly waitsForServer: boolean;
  /** The beginning of subjects that answers of the server come to; only who asks it something needs one. */
  readonly inbox?: string;
};

const RETRY_MS = 500;

/** @throws Error where the server does not answer, or refuses the key */
export async function connectFar(parts: FarConnectionParts): Promise<FarConnection> {
  const { host, port, certificate, seed } = parts;
  const tls = {
    // Without one, the system's own authorities count.
    ...(certificate === '' ? {} : { ca: certificate }),
    // The client gives Node no name for an address such as 192.168.1.10, and Node would look for "localhost".
    checkServerIdentity: (_: string, shown: PeerCertificate) => checkServerIdentity(host, shown),
  };
  const connection = await connect({
    servers: `${host}:${port}`,
    tls,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    // One that does not wait tells at once what is wrong.
    reconnect: parts.waitsForServer,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    waitOnFirstConnect: parts.waitsForServer,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 10_000,
    noEcho: true,
    ...(parts.inbox === undefined ? {} : { inboxPrefix: parts.inbox }),
  });
  let isUp = true;
  let isClosing = false;
  void watch(connection, {
    down: () => {
      isUp = false;
    },
    up: () => {
      isUp = true;
      parts.onUp();
    },
  });
  void connection.closed().then((error) => {
    isUp = false;
    if (!isClosing) parts.onRefused(error?.message ?? 'the server has ended the connection');
  });
  return {
    nats: connection,
    get isUp() {
      return isUp;
    },
    publish(subject, message) {
      if (isUp && !connection.isClosed()) connection.publish(subject, message);
    },
    subscribe(subject, onMessage) {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) onMessage(message.subject, Buffer.from(message.data));
        },
      });
    },
    flush: () => connection.flush(),
    async close() {
      isClosing = true;
      // It is closed already where the server has ended it.
      if (!connection.isClosed()) await connection.close().catch(() => {});
    },
  };
}

async function watch(
  connection: NatsConnection,
  on: { readonly up: () => void; readonly down: () => void },
): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'staleConnection') on.down();
    if (type === 'reconnect') on.up();
  }
}
