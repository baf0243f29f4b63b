import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { lazySandbox } from '../../../src/host/turns/agent/lazy-sandbox.ts';
import { requestFor } from '../../../src/model/request-check.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { runHere, SERVER } from './fixtures.ts';

/** A server of tools behind a login of its own: what it gives out, it wants to see again. */
async function loginServer(): Promise<{
  readonly url: string;
  readonly refreshed: () => number;
  readonly expire: () => void;
  close(): Promise<void>;
}> {
  let access = randomUUID();
  let refreshed = 0;
  let challenge = '';
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (body: unknown): string => JSON.stringify(body);

  async function answer(
    request: IncomingMessage,
    response: import('node:http').ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', url);
    const send = (body: unknown, status = 200, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(json(body));
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return void send({ resource: `${url}/mcp`, authorization_servers: [url] });
    if (pathname.startsWith('/.well-known/')) {
      return void send({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        registration_endpoint: `${url}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    }
    if (pathname === '/register')
      return void send({ ...JSON.parse(await text(request)), client_id: 'c1' }, 201);
    if (pathname === '/authorize') {
      challenge = searchParams.get('code_challenge') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = String(
        new URLSearchParams({ code: 'code-1', state: searchParams.get('state') ?? '' }),
      );
      return void response.writeHead(302, { location: String(back) }).end();
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(await text(request));
      if (form.get('grant_type') === 'refresh_token') refreshed += 1;
      else if (
        createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url') !== challenge
      )
        return void send({ error: 'invalid_grant' }, 400);
      return void send({
        access_token: access,
        token_type: 'Bearer',
        refresh_token: 'r1',
        expires_in: 3600,
      });
    }
    if (request.headers.authorization !== `Bearer ${access}`) {
      return void send({}, 401, {
        'www-authenticate': `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource"`,
      });
    }
    const mcp = new McpServer({ name: 'far', version: '1' });
    mcp.registerTool(
      'add',
      {
        description: `Adds. ${'And adds. '.repeat(20)}`,
        inputSchema: { a: z.number(), b: z.number() },
      },
      ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
    );
    const transport = new StreamableHTTPServerTransport({});
    await mcp.connect(transport as never);
    await transport.handleRequest(request, response);
  }

  return {
    url: `${url}/mcp`,
    refreshed: () => refreshed,
    expire: () => {
      access = randomUUID();
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

function write(project: TestProject, mcpServers: object): string {
  const dataDir = join(project.dir, 'data');
  mkdirSync(join(dataDir, 'mcp'), { recursive: true });
  writeFileSync(join(dataDir, 'mcp/mcp.json'), JSON.stringify({ mcpServers }));
  return dataDir;
}

test('the owner logs in by a page that comes back to this machine, and the tokens are kept and renewed', async () => {
  using project = new TestProject();
  const far = await loginServer();
  const dataDir = write(project, { far: { url: far.url } });
  const results: unknown[] = [];
  const assistant = await project.start({
    agent: async ({ folder, tools, models }, { onTool }) => {
      results.push(tools.some(({ name }) => name === 'far__add'));
      results.push((await onTool({ folder, name: 'far__add', input: { a: 2, b: 3 } })).value);
      const odd = [{ name: 'far__odd', input_schema: { type: 'object', required: ['a word'] } }];
      if (results.length > 2) requestFor(models[0], { messages: [], tools: odd });
      return answers('done');
    },
  });
  const { terminal } = assistant;
  const say = async (said: string): Promise<string> => {
    const before = terminal.sent.length;
    await terminal.say(said);
    await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
    return textsOf(terminal).at(-1) ?? '';
  };
  await vi.waitFor(async () =>
    expect(await say('/mcp')).toContain('needs you (say `/mcp login far`)'),
  );
  const [, page = ''] = /agree: (\S+)/.exec(await say('/mcp login far')) ?? [];
  // As a browser that the page of a login has led here.
  const led = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const way = await fetch(page, { redirect: 'manual' });
  const back = new URL(way.headers.get('location') ?? '');
  // Our fetch would write these headers itself.
  const [landed] = await once(get(back, { headers: led }), 'response');
  expect(await text(landed)).toContain('far is connected. You can close this page.');
  expect(statSync(join(dataDir, 'mcp/oauth/far.json')).mode & 0o777).toBe(0o600);
  expect(await say('/mcp')).toBe('- **far**: connected, 1 tool for main');
  expect(await say('/mcp tools far')).toMatch(/^- `add`: Adds\. [\s\S]{80,}…$/);
  expect(await say('add')).toBe('done');
  expect(results).toEqual([true, '5']);
  far.expire();
  expect(await say('add again')).toBe('done');
  expect(await say('/mcp')).toContain(
    'Left out for the model of this chat:\n- `far__odd`: its input "a word" has a name that model servers refuse',
  );
  expect(results.slice(2)).toEqual([true, '5']);
  expect(far.refreshed()).toBe(1);
  // An answer that nothing waits for, such as one that a page of somebody else sends.
  const strange = new URL(back);
  strange.searchParams.set('state', 'x');
  expect((await fetch(strange)).status).toBe(400);
  expect(await say('/mcp logout far')).toContain('needs you');
  await assistant.stop();
  await far.close();
});

test('an agent uses a server of its chat, another chat does not see it, and the assistant ends it', async () => {
  using project = new TestProject();
  write(project, { near: { command: 'node', args: [SERVER], groups: ['family'] } });
  const results: unknown[] = [];
  const sandbox: Sandbox = {
    engine: 'bubblewrap',
    description: 'test',
    async runTurn({ folder, tools }, { onTool }) {
      results.push([folder, tools.some(({ name }) => name === 'near__echo')]);
      results.push((await onTool({ folder, name: 'near__echo', input: { text: folder } })).value);
      return answers('done');
    },
    startProgram: runHere,
    stop: async () => {},
    warm: () => 0,
    close: async () => {},
  };
  const assistant = await project.start({
    over: { sandbox: lazySandbox(async () => ({ kind: 'ready', sandbox })) },
  });
  const { terminal, chat } = assistant;
  await chat.meet('chat:f', 'Family');
  await terminal.say('/register Family always');
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(1));
  await vi.waitFor(async () => {
    await terminal.say('/mcp');
    expect(textsOf(terminal).join()).toContain('**near**: connected, 17 tools for family');
  });
  await chat.say('hello', { jid: 'chat:f', isDirect: false, chatName: 'Family' });
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['done']));
  await terminal.say('hello');
  await vi.waitFor(() => expect(results).toHaveLength(4));
  expect(results).toEqual([
    ['family', true],
    'family',
    ['main', false],
    'There is no host tool near__echo.',
  ]);
  await assistant.stop();
});
