import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { TOKEN_HEADER } from '../../../src/sandbox/protocol/endpoint.ts';
import type { TcpHost } from './connection.ts';

// An import would also load everything that node:http only offers, a fetch and a WebSocket among them:
// 30 ms before an agent's first call.
const { request } = process.getBuiltinModule('node:http');

/** Returns a `fetch` whose every request goes to the host, whatever host its address names. */
export function socketFetch(host: string | TcpHost): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const body = Buffer.from(await asked.arrayBuffer());
    const answer = await send(host, asked, body);
    const status = answer.statusCode ?? 502;
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? webStream(answer) : null, { status, headers: headersOf(answer) });
  };
}

function send(host: string | TcpHost, asked: Request, body: Buffer): Promise<IncomingMessage> {
  const { pathname, search } = new URL(asked.url);
  const isSocket = typeof host === 'string';
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...(isSocket ? { socketPath: host } : { host: host.host, port: host.port }),
      path: `${pathname}${search}`,
      method: asked.method,
      headers: {
        ...Object.fromEntries(asked.headers),
        ...(isSocket ? {} : { [TOKEN_HEADER]: host.token }),
        'content-length': body.length,
      },
      signal: asked.signal,
    });
    outgoing.once('error', reject);
    outgoing.once('response', resolve);
    outgoing.end(body);
  });
}

function webStream(answer: IncomingMessage): ReadableStream<Uint8Array> {
  return Readable.toWeb(answer) as ReadableStream<Uint8Array>;
}

function headersOf(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}
