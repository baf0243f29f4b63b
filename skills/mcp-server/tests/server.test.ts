import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test, vi } from 'vitest';
import { textsOf } from '../../../src/testing/assistant.ts';
import { connect, serve } from './fixtures.ts';

const call = async (client: Client, name: string, input: object = {}) => {
  const { content, isError } = await client.callTool({ name, arguments: { ...input } });
  const [first] = content as { readonly text: string }[];
  return `${isError === true ? 'error: ' : ''}${first?.text}`;
};

test('a client finds tools and resources, reads history and memory, and the owner is asked nothing', async () => {
  await using served = await serve();
  const client = await connect(served);
  expect(client.getServerVersion()).toMatchObject({ name: 'patchclaw', title: 'Andy' });
  const { tools } = await client.listTools();
  const readOnly = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
  expect(readOnly.map(({ name }) => name).toSorted()).toEqual([
    'list_groups',
    'list_tasks',
    'read_memory',
    'search_history',
  ]);
  expect(tools.map(({ name }) => name)).toContain('send_message');
  expect(tools.map(({ name }) => name)).not.toContain('register_group');
  expect(await call(client, 'search_history', { query: 'plumber', chat: 'family' })).toContain(
    'The plumber comes on Tuesday',
  );
  expect(await call(client, 'read_memory', { chat: 'family' })).toContain('Bob eats no fish.');
  expect(await call(client, 'list_groups')).toContain('"folder":"family"');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining([
      'patchclaw://groups',
      'patchclaw://tasks',
      'patchclaw://memory/family',
      'patchclaw://history/main',
    ]),
  );
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'patchclaw://memory/{chat}',
    'patchclaw://history/{chat}',
  ]);
  const read = async (uri: string) => JSON.stringify((await client.readResource({ uri })).contents);
  expect(await read('patchclaw://memory/family')).toContain('Bob eats no fish.');
  expect(await read('patchclaw://history/family')).toContain('The plumber comes on Tuesday');
  expect(await read('patchclaw://groups')).toContain('Family');
  await expect(read('patchclaw://memory/nobody')).rejects.toThrow('There is no resource');
  await client.close();
});

test('a change is shown to the owner, and runs at their yes alone', async () => {
  await using served = await serve();
  const { terminal, chat } = served.assistant;
  const client = await connect(served);
  const text = 'Dinner is ready';
  const sent = call(client, 'send_message', { text, chat: 'family' });
  await vi.waitFor(() =>
    expect(textsOf(terminal).at(-1)).toContain('wants to call `send_message` for Family'),
  );
  expect(textsOf(terminal).at(-1)).toContain(text);
  expect(textsOf(chat)).not.toContain(text);
  await terminal.say('yes');
  expect(await sent).toContain('Queued for Family.');
  await vi.waitFor(() => expect(textsOf(chat)).toContain(text));
  const task = { prompt: 'Say hello', schedule: 'daily 08:00', chat: 'family' };
  const refused = call(client, 'schedule_task', task);
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('`schedule_task`'));
  await terminal.say('no');
  expect(await refused).toBe('error: The owner did not allow this call.');
  expect(await call(client, 'list_tasks')).not.toContain('Say hello');
  await client.close();
});

test('the question about a call that the client cancels is withdrawn, and a later yes is none to it', async () => {
  await using served = await serve();
  const { terminal, chat } = served.assistant;
  const client = await connect(served);
  const leaving = new AbortController();
  const params = { name: 'send_message', arguments: { text: 'too late', chat: 'family' } };
  const sent = client.callTool(params, undefined, { signal: leaving.signal });
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('`send_message`'));
  leaving.abort();
  await expect(sent).rejects.toThrow();
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('not needed any more'));
  await terminal.say('yes');
  await client.ping();
  expect(textsOf(chat)).not.toContain('too late');
  await client.close();
});

test('wrong names, wrong input and foreign chats are errors that a model can read', async () => {
  await using served = await serve();
  const client = await connect(served);
  expect(await call(client, 'owner_command', { command: '/status' })).toBe(
    'error: There is no tool owner_command.',
  );
  expect(await call(client, 'search_history', { chat: 'nobody' })).toBe(
    'error: No chat is registered with the folder nobody.',
  );
  expect(await call(client, 'search_history', { limit: 'many' })).toMatch(
    /^error: The input does not fit/,
  );
  expect(await call(client, 'read_memory', { chat: '../main' })).toMatch(/^error: No chat/);
  await client.close();
});

test('without the token, from a page of somebody else, in an old session: refused', async () => {
  await using served = await serve();
  const hello = (headers: Record<string, string>, body = '{}') =>
    fetch(served.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
  const authorization = `Bearer ${served.token}`;
  expect((await hello({})).status).toBe(401);
  expect((await hello({ authorization: 'Bearer x' })).status).toBe(401);
  expect((await hello({ authorization, origin: 'https://far.example' })).status).toBe(403);
  expect((await hello({ authorization, 'mcp-session-id': 'old' })).status).toBe(404);
  expect((await hello({ authorization })).status).toBe(400);
  expect((await hello({ authorization }, 'no json')).status).toBe(400);
});

test('what is no hello ends no session of another program, however often it comes', async () => {
  await using served = await serve();
  const clients = await Promise.all(Array.from({ length: 32 }, () => connect(served)));
  const bodies = ['{', '[]', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', '\0'.repeat(10_000)];
  for (const body of bodies) {
    for (let time = 0; time < 16; time += 1) {
      const { status } = await fetch(served.url, {
        method: 'POST',
        body,
        headers: {
          authorization: `Bearer ${served.token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
      });
      expect(status).toBe(400);
    }
  }
  for (const client of clients) expect(await client.ping()).toEqual({});
  // One more program still takes the place of the one that was silent longest.
  const last = await connect(served);
  expect(await last.ping()).toEqual({});
  await expect(clients[0]?.ping()).rejects.toThrow('Session not found');
  for (const client of [...clients.slice(1), last]) expect(await client.ping()).toEqual({});
  await Promise.all([...clients, last].map((client) => client.close()));
});
