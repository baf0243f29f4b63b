import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tool, ToolCall, ToolContribution } from '../../../src/host/contracts/tool.ts';
import type { Endpoint, Internet } from '../../../src/tools/web/internet.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The public address that every site of the test has. */
const PUBLIC = '93.184.215.14';

/** A server on loopback, which answers as it is told. */
export async function localServer(handler: Handler) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A net whose sites are all on one server of the test. It notes what was looked up and connected to. */
export async function testNet(sites: Readonly<Record<string, Handler>>) {
  const server = await localServer((request, response) => {
    const name = (request.headers.host ?? '').replace(/:\d+$/, '');
    const site = sites[name];
    if (site !== undefined) return site(request, response);
    response.writeHead(500).end(`no such site: ${name}`);
  });
  const lookups: string[] = [];
  const reached: Endpoint[] = [];
  const internet: Internet = {
    lookup: async (name) => {
      lookups.push(name);
      return name in sites ? [PUBLIC] : [];
    },
    reach: (end) => {
      reached.push(end);
      return { address: '127.0.0.1', port: server.port };
    },
    ownNetworks: () => ['127.0.0.1/8', '203.0.114.7/24'],
  };
  return { ...server, internet, lookups, reached };
}

/** Answers with a page. */
export function page(
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
  };
}

/** Answers with a redirect. */
export function redirect(location: string, status = 302): Handler {
  return (_request, response) => {
    response.writeHead(status, { location }).end();
  };
}

/** Makes a tool as the assistant does, and calls it for the chat of a folder. */
export function toolCaller(
  contribution: ToolContribution,
  environment: Readonly<Record<string, string>> = {},
) {
  const time = { now: 0 };
  let drawn = 0;
  const opened = contribution.open(environment, {
    assistantName: 'Andy',
    dataDir: '/nowhere',
    groupsDir: '/nowhere',
    timeZone: 'UTC',
    log: { info() {}, warn() {}, error() {} },
    now: () => time.now,
    newId: () => {
      drawn += 1;
      return `nonce-${drawn}`;
    },
    openDatabase: () => {
      throw new Error('no database');
    },
  });
  if (opened.kind !== 'made' || opened.value?.kind !== 'one') throw new Error('was not made');
  const tool: Tool = opened.value.tool;
  async function call(input: unknown, folder = 'main'): Promise<string> {
    const caller = { folder } as ToolCall['caller'];
    const { signal } = new AbortController();
    return String(await tool.run({ caller, signal } as ToolCall, tool.input.parse(input)));
  }
  return { call, time, tool };
}
