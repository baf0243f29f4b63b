import { setTimeout as sleep } from 'node:timers/promises';
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
  /** The server has refused this key for good; where nobody hears that, it is asked again. */
  readonly onRefused?: (reason: string) => void;
  /** Waits for the server for as long as it takes, at first and whenever the connection is lost. */
  readonly waitsForServer: boolean;
  /** Why the server cannot be had now; it is tried again. Said once for each reason. */
  readonly onDown?: (reason: string) => void;
  /** Ends the waiting for a server that was never there. */
  readonly signal?: AbortSignal;
  /** The beginning of subjects that answers of the server come to; only who asks it something needs one. */
  readonly inbox?: string;
};

const RETRY_MS = 500;
const DIALS = 3;

/** @throws Error where the server does not answer or refuses the key, and is not waited for */
export async function connectFar(parts: FarConnectionParts): Promise<FarConnection> {
  const connection = parts.waitsForServer ? await dialUntilThere(parts) : await dial(parts);
  let isUp = true;
  let isClosing = false;
  void watch(connection, {
    down: () => {
      if (isUp && !isClosing) parts.onDown?.('the connection is lost');
      isUp = false;
    },
    up: () => {
      isUp = true;
      parts.onUp();
    },
  });
  void connection.closed().then((error) => {
    isUp = false;
    if (!isClosing) parts.onRefused?.(error?.message ?? 'the server has ended the connection');
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

/** Connects and leaves. Returns why that was not possible; null where it was. */
export async function whyUnreachable(address: FarAddress): Promise<string | null> {
  const { host, port, certificate, seed } = address;
  try {
    await (await connectBriefly({ host, port, certificate, seed })).close();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Connects to ask something. A server that reads its file again breaks a connection that is being made, so it is tried
 * more than once.
 *
 * @throws Error where the server does not answer, or refuses the key
 */
export async function connectBriefly(
  address: FarAddress & { readonly inbox?: string },
): Promise<FarConnection> {
  const parts = { ...address, waitsForServer: false, onUp: () => {}, onRefused: () => {} };
  for (let dials = 1; ; dials += 1) {
    try {
      return await connectFar(parts);
    } catch (error) {
      if (dials === DIALS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** A server that is not there yet may come, and one that does not know this key may be told of it. */
async function dialUntilThere(parts: FarConnectionParts): Promise<NatsConnection> {
  for (let before = ''; ; ) {
    try {
      return await dial(parts);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== before) parts.onDown?.(reason);
      before = reason;
      await sleep(RETRY_MS, null, { signal: parts.signal });
    }
  }
}

async function dial(parts: FarConnectionParts): Promise<NatsConnection> {
  const { host, port, certificate, seed } = parts;
  const tls = {
    // Without one, the system's own authorities count.
    ...(certificate === '' ? {} : { ca: certificate }),
    // The client gives Node no name for an address such as 192.168.1.10, and Node would look for "localhost".
    checkServerIdentity: (_: string, shown: PeerCertificate) => checkServerIdentity(host, shown),
  };
  return await connect({
    servers: `${host}:${port}`,
    tls,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    // One that does not wait tells at once what is wrong.
    reconnect: parts.waitsForServer,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    ignoreAuthErrorAbort: parts.onRefused === undefined,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 10_000,
    noEcho: true,
    ...(parts.inbox === undefined ? {} : { inboxPrefix: parts.inbox }),
  });
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
