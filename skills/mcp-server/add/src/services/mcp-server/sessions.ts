import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';

/** The client that was used least recently makes room: programs leave without a word. */
const MOST_SESSIONS = 32;
const SESSION = 'mcp-session-id';

export type SessionsOptions = {
  readonly createServer: () => Server;
  readonly newId: () => string;
};

/** Clients by streamable HTTP, each with a session of its own. */
export interface Sessions {
  handle(request: HttpRequest): Promise<HttpResponse>;
  count(): number;
  close(): Promise<void>;
}

/** Opens the sessions; none is there before a client says hello. */
export function openSessions({ createServer, newId }: SessionsOptions): Sessions {
  /** By their ids, those that were used last at the end. */
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  async function open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      // Only a client that has said hello takes a place: anything else would end the sessions of others.
      onsessioninitialized: async (id) => {
        await makeRoom();
        sessions.set(id, transport);
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createServer().connect(transport as Parameters<Server['connect']>[0]);
    return transport;
  }

  async function makeRoom(): Promise<void> {
    const [oldest] = sessions.size >= MOST_SESSIONS ? sessions : [];
    if (oldest === undefined) return;
    sessions.delete(oldest[0]);
    await oldest[1].close();
  }

  return {
    async handle(request) {
      const id = request.headers[SESSION];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      if (typeof id === 'string') {
        // The protocol's word for a session that has ended: the client begins another.
        if (known === undefined) return notFound();
        sessions.delete(id);
        sessions.set(id, known);
      }
      const transport = known ?? (await open());
      return inParts(await transport.handleRequest(webRequest(request)));
    },
    count: () => sessions.size,
    async close() {
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.all(all.map((transport) => transport.close()));
    },
  };
}

function notFound(): HttpResponse {
  const error = { code: -32_001, message: 'Session not found' };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
  return { status: 404, headers: { 'content-type': 'application/json' }, body };
}

function webRequest({ method, headers, body }: HttpRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const content = method === 'POST' ? { body: new Uint8Array(body) } : {};
  return new Request('http://127.0.0.1/', { method, headers: given, ...content });
}

function inParts(response: Response): HttpResponse {
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: response.body ?? '' };
}
