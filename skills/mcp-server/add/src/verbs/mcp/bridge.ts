import type { Readable, Writable } from 'node:stream';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';

export type BridgeOptions = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
  /** Returns where the assistant listens now, and its token; null where that is not known. */
  readonly far: () => { readonly url: string; readonly token: string } | null;
  /** Says something where the owner of the client looks for it: in its log. */
  readonly tell: (text: string) => void;
};

/** A client's line that is longer is not a message; none of the protocol comes near it. */
const MOST_BYTES = 10_485_760;
const BAD_REQUEST = 400;
const TOO_LARGE = 413;

/**
 * Carries messages between a client's streams and the running assistant, until the client is gone. Nothing but
 * messages of the protocol is written. After a restart of the assistant the client's hello is said once more for it.
 */
export async function bridge(options: BridgeOptions): Promise<void> {
  const { stdin, stdout, signal, far, tell } = options;
  const near = new StdioServerTransport(stdin, stdout, { maxBufferSize: MOST_BYTES });
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let transport: StreamableHTTPClientTransport | null = null;
  let hello: JSONRPCMessage | null = null;
  /** Resolves with the answer to a hello that the bridge said itself. */
  let onHello: ((message: JSONRPCMessage) => void) | null = null;

  async function connect(): Promise<StreamableHTTPClientTransport> {
    const place = far();
    if (place === null) throw new Error('it does not run');
    const headers = { authorization: `Bearer ${place.token}` };
    const opened = new StreamableHTTPClientTransport(new URL(place.url), {
      requestInit: { headers },
    });
    opened.onmessage = (message) => {
      const version = versionIn(message, hello);
      if (version !== null) opened.setProtocolVersion(version);
      if (version !== null && onHello !== null) onHello(message);
      else void near.send(message);
    };
    opened.onerror = () => {};
    await opened.start();
    return opened;
  }

  /** Begins a new session as the client began its own. */
  async function reconnect(): Promise<StreamableHTTPClientTransport> {
    const opened = await connect();
    if (hello === null) return opened;
    const answered = new Promise<JSONRPCMessage>((resolve) => {
      onHello = resolve;
    });
    try {
      await opened.send(hello);
      await answered;
    } finally {
      onHello = null;
    }
    await opened.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return opened;
  }

  async function pass(message: JSONRPCMessage): Promise<void> {
    const isHello = 'method' in message && message.method === 'initialize';
    if (isHello) hello = message;
    try {
      transport ??= await connect();
      await transport.send(message);
    } catch (error) {
      if (isTooLarge(error)) throw error;
      // A session of an assistant that has restarted since: once more, with a new one.
      await transport?.close();
      transport = isHello ? await connect() : await reconnect();
      await transport.send(message);
    }
  }

  near.onmessage = (message) => {
    pass(message).catch((error: unknown) => {
      if (!isTooLarge(error)) transport = null;
      if ('method' in message && 'id' in message) void near.send(failure(message.id, error));
    });
  };
  let isGarbageTold = false;
  near.onerror = (error) => {
    if (isGarbageTold) return;
    isGarbageTold = true;
    const reason = error.message.replace(/\s+/g, ' ').slice(0, 200);
    tell(`What the client sent is not a message of MCP, and was passed over (${reason}).`);
  };
  near.onclose = () => {
    tell('The client sent more than 10 MB without the end of a line. The connection ends.');
    end();
  };
  stdin.once('end', end);
  stdin.once('close', end);
  signal.addEventListener('abort', () => end(), { once: true });
  await near.start();
  await over;
  const left = transport as StreamableHTTPClientTransport | null;
  await left?.terminateSession().catch(() => {
    // The assistant is gone, and the session with it.
  });
  await left?.close();
  near.onclose = () => {};
  await near.close();
}

/** Returns the version that an answer to the hello settles; null for any other message. */
function versionIn(message: JSONRPCMessage, hello: JSONRPCMessage | null): string | null {
  if (hello === null || !('id' in hello) || !('result' in message) || message.id !== hello.id)
    return null;
  const { protocolVersion } = message.result;
  return typeof protocolVersion === 'string' ? protocolVersion : null;
}

function failure(id: RequestId, error: unknown): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: reasonOf(error) };
}

function reasonOf(error: unknown): { readonly code: number; readonly message: string } {
  if (isTooLarge(error)) {
    const message = 'This message is larger than 1 MB, the most that the assistant reads.';
    return { code: ErrorCode.InvalidRequest, message };
  }
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, 200);
  if (error instanceof StreamableHTTPError && error.code === BAD_REQUEST) {
    const message = `The assistant does not take this message (${reason}). The first one must be initialize.`;
    return { code: ErrorCode.InvalidRequest, message };
  }
  const message = `The assistant cannot be reached (${reason}). Is it running? \`npx claw start\` starts it.`;
  return { code: ErrorCode.InternalError, message };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === TOO_LARGE;
}
