import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isInnerAddress } from '../../../src/lib/inner-address.ts';
import { parseMcpConfig } from '../../../src/lib/mcp/config.ts';
import { probe } from '../../../src/lib/mcp/probe.ts';
import { fetchFor } from '../../../src/services/mcp/limited-fetch.ts';
import type { Network } from '../../../src/services/mcp/server-network.ts';
import { openServers, type TestServers, Timers } from './fixtures.ts';

const open = async (now = Date.now): Promise<TestServers> => {
  const server = join(import.meta.dirname, 'hostile-server.ts');
  const opened = await openServers({ far: { command: 'node', args: [server] } }, { now });
  await vi.waitFor(() =>
    expect(opened.servers.states()).toMatchObject([{ state: 'connected', tools: 5 }]),
  );
  return opened;
};

test('a list that changes in a loop is looked at once a second', async () => {
  await using opened = await open();
  await opened.call('far__changes');
  expect(await opened.call('far__lists')).toBe('2');
  expect(opened.timers.pass()).toEqual([1_000]);
  await vi.waitFor(async () => expect(await opened.call('far__lists')).toBe('3'));
});

test('a server that talks without end is heard a part a second, and its answer comes', async () => {
  // Time stands still: however slowly the server talks, a part of it must wait.
  await using opened = await open(() => 0);
  let pauses = 0;
  let isOver = false;
  const call = opened.call('far__chatter').finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await vi.waitFor(() => expect(opened.timers.waiting.size > 0 || isOver).toBe(true));
    pauses += opened.timers.pass().length;
  }
  expect(await call).toBe('1');
  expect(pauses).toBeGreaterThan(0);
});

test('one that does not read what it is told is stopped before that fills the memory', async () => {
  await using opened = await open();
  await expect(opened.call('far__deaf')).rejects.toThrow(
    'does not read what it is told, and was stopped',
  );
});

test('of two hundred forms in one call the owner sees five', async () => {
  await using opened = await open();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return { word: 'no', isAnswered: true };
  };
  expect(await opened.call('far__forms', {}, { ask })).toBe('all answered');
  expect(asked).toBe(5);
});

async function serve(handle: RequestListener, address = '127.0.0.1') {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The server listens at 127.0.0.1, as it were in the internet; 127.0.0.2 is this machine too, and inside. */
const INTERNET: Network = {
  lookup: async () => ['127.0.0.1'],
  isInner: (address) => address === '127.0.0.2',
};

const CLOCK = { now: Date.now, setTimer: new Timers().set };

/** Connects to a server of "the internet" (localhost). */
async function stateOf(port: number, network: Network = INTERNET): Promise<string> {
  await using opened = await openServers(
    { far: { url: `http://localhost:${port}/mcp` } },
    { network },
  );
  await vi.waitFor(() => expect(opened.servers.states()[0]?.state).not.toBe('starting'));
  return String(opened.servers.states()[0]?.detail);
}

test('a server of the internet cannot have this machine asked, by its login or by a redirect', async () => {
  const asked: (string | undefined)[] = [];
  using inner = await serve(({ url }, response) => {
    asked.push(url);
    response.end('the password of the router');
  }, '127.0.0.2');
  const inside = `http://127.0.0.2:${inner.port}`;
  const refusal = 'the server names 127.0.0.2, which is not an address of the internet';
  using named = await serve((_, response) => {
    const header = `Bearer resource_metadata="${inside}/latest/meta-data/"`;
    response.writeHead(401, { 'www-authenticate': header }).end();
  });
  // The library goes on without it, to the server's own login.
  expect(await stateOf(named.port)).toContain('HTTP 401');
  using registering = await serve(({ url, headers }, response) => {
    const own = `http://${headers.host}`;
    const found = {
      resource: `${own}/mcp`,
      authorization_servers: [own],
      issuer: own,
      authorization_endpoint: `${inside}/agree`,
      token_endpoint: `${inside}/token`,
      registration_endpoint: `${inside}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
    if (url?.startsWith('/mcp')) return void response.writeHead(401).end();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(found));
  });
  expect(await stateOf(registering.port)).toContain(refusal);
  using leading = await serve((_, response) => {
    response.writeHead(307, { location: `${inside}/admin` }).end();
  });
  expect(await stateOf(leading.port)).toContain('not followed');
  const address = {
    far: { url: `http://localhost:${leading.port}/mcp`, headers: { 'X-Key': 'k' } },
  };
  const [server] = parseMcpConfig(JSON.stringify({ mcpServers: address }), {}).servers;
  const said = server?.kind === 'http' ? await probe(server, 10_000) : null;
  expect(said).toEqual({ kind: 'failed', reason: 'it answered 307' });
  expect(asked).toEqual([]);
});

test('a key that a server repeats in its errors is in no state, log or answer', async () => {
  const key = 'sk-live-4f2b9c81d07e';
  using far = await serve(({ headers }, response) => {
    response.writeHead(500).end(`no such key: ${headers.authorization}`);
  });
  const headers = { Authorization: `Bearer ${key}` };
  const list = { far: { url: `http://localhost:${far.port}/mcp`, headers } };
  await using opened = await openServers(list, { network: INTERNET });
  await vi.waitFor(() => expect(opened.servers.states()[0]?.state).toBe('waiting'));
  const connection = opened.servers.find('far');
  const signal = AbortSignal.timeout(60_000);
  const call = { tool: 'x', input: {}, idempotencyKey: null, signal, ask: vi.fn() };
  const said = await connection?.call(call).catch(String);
  const all = JSON.stringify([opened.servers.states(), opened.logged, said]);
  expect(all).toContain('no such key: [secret]');
  expect(all).not.toContain(key);
});

test('a name that leads inside once it was checked is not followed there, that of the server itself neither', async () => {
  const asked: (string | undefined)[] = [];
  using inner = await serve(({ url }, response) => {
    asked.push(url);
    response.end('{}');
  }, '127.0.0.2');
  let answers = 0;
  const rebinding: Network = {
    ...INTERNET,
    lookup: async () => [answers++ === 0 ? '127.0.0.1' : '127.0.0.2'],
  };
  expect(await stateOf(inner.port, rebinding)).toContain('not an address of the internet');
  // A name that leads to both is made for that.
  const both: Network = { ...INTERNET, lookup: async () => ['127.0.0.1', '127.0.0.2'] };
  const state = fetchFor(
    new URL('http://mcp.example/mcp'),
    {
      ...both,
      lookup: async (name) => (name === 'mcp.example' ? ['127.0.0.1'] : await both.lookup(name)),
    },
    CLOCK,
  )(`http://both.example:${inner.port}/`);
  await expect(state).rejects.toThrow();
  expect(asked).toEqual([]);
});

test('addresses of this machine and of its network are told from those of the internet', () => {
  const inside =
    `127.0.0.1 127.8.8.8 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
    255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:a00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 fe80::1%eth0 fc00::1 fd12::1
    ff02::1 2002:7f00:1::1 2001:0:1::1 ::127.0.0.1`.split(/\s+/);
  const outside = '8.8.8.8 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808'.split(' ');
  expect(inside.filter((address) => !isInnerAddress(address))).toEqual([]);
  expect(outside.filter(isInnerAddress)).toEqual([]);
});

test('a key with a line break or in the address is refused by the list, and never repeated', () => {
  const problemOf = (url: string, key: string) => {
    const far = { url, headers: { Authorization: `Bearer \${KEY}` } };
    const { servers, problems } = parseMcpConfig(JSON.stringify({ mcpServers: { far } }), {
      KEY: key,
    });
    expect(servers).toEqual([]);
    return problems.join();
  };
  const server = 'https://mcp.example/mcp';
  expect(problemOf(server, 'sk-1\nX: 2')).toBe(
    'The server "far" has a header in "headers" with a line break or a sign that cannot be sent.',
  );
  expect(problemOf(server, 'sk-1\u2026')).not.toContain('sk-1');
  expect(problemOf('https://ada:sk-1@mcp.example/mcp', 'k')).toMatch(
    /^The server "far" has a name or password in its "url"/,
  );
  expect(problemOf('https://ada:sk-1@mcp.example/mcp', 'k')).not.toContain('sk-1');
});
