import { expect, test, vi } from 'vitest';
import { offeredName } from '../../../src/services/mcp/remote-tools.ts';
import { openServers, SERVER, type TestServers } from './fixtures.ts';

const open = async (how: string, state: string): Promise<TestServers> => {
  const opened = await openServers({ far: { command: 'node', args: [SERVER, how] } });
  await is(opened, state);
  return opened;
};

const is = (opened: TestServers, state: string) =>
  vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state }]));

test('a server that crashes is told of, with its last words, and started again after a growing pause', async () => {
  await using opened = await open('well', 'connected');
  await expect(opened.call('far__crash')).rejects.toThrow(
    'The tool server far does not work now: it ended: exit code 3, out of luck. It is started again by itself',
  );
  await expect(opened.call('far__echo')).rejects.toThrow('does not work now');
  expect(opened.logged.join('\n')).toContain('an MCP server is gone and is connected again');
  expect(opened.timers.pass()).toEqual([1_000]);
  await is(opened, 'connected');
  expect(await opened.call('far__echo', { text: 'back' })).toBe('back');
  await expect(opened.call('far__crash')).rejects.toThrow('exit code 3');
  expect(opened.timers.pass()).toEqual([2_000]);
  await is(opened, 'connected');
});

test('one that cannot start at all is tried again ever more seldom', async () => {
  await using opened = await open('dead', 'waiting');
  const pauses: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    pauses.push(...opened.timers.pass());
    await is(opened, 'waiting');
    await vi.waitFor(() => expect(opened.timers.waiting.size).toBe(1));
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(opened.servers.states()[0]?.detail).toBe('ended: exit code 9; tried again in 60 s');
});

test('garbage on its stream ends it with a clear line, and a banner does not', async () => {
  await using opened = await open('garbage', 'waiting');
  expect(opened.servers.states()[0]?.detail).toMatch(
    /^does not speak MCP, and was stopped; it said "line 20 of a log"/,
  );
  await using banner = await open('banner', 'connected');
  expect(await banner.call('far__echo', { text: 'fine' })).toBe('fine');
});

test('half an answer, an answer of another shape, a failure: a sentence each', async () => {
  await using opened = await open('well', 'connected');
  await expect(opened.call('far__wrong')).rejects.toThrow(
    'far answered with something that is no result of a tool.',
  );
  await expect(opened.call('far__fail')).rejects.toThrow(/^There is no more milk\.$/);
  await expect(opened.call('far__half')).rejects.toThrow('it ended: exit code 0');
});

test('a message without end is cut off at 16 MB, and the call ends', async () => {
  await using opened = await open('well', 'connected');
  await expect(opened.call('far__flood')).rejects.toThrow(
    'it sent a message longer than 16 MB, and was stopped',
  );
});

test('an answer of two million wrong parts ends it, before each of them is looked at', async () => {
  await using opened = await open('well', 'connected');
  await expect(opened.call('far__flood', { parts: true })).rejects.toThrow(
    'it sent a message of more than 50,000 values, and was stopped',
  );
});

test('of 4,000 tools the first are offered, and the owner is told how to choose', async () => {
  await using opened = await open('many', 'connected');
  expect(opened.servers.tools).toHaveLength(128);
  expect(opened.servers.states()[0]?.detail).toContain(
    'more than 128 tools; name those that you want under "tools"',
  );
});

test('tools without a schema that can be used are left out, and the others are there', async () => {
  await using opened = await open('wrong-schema', 'connected');
  expect(opened.servers.tools.map(({ name }) => name)).toEqual(['far__echo']);
  expect(opened.servers.states()[0]?.detail).toBe(
    '3 tools have a name, a description or a schema that cannot be used',
  );
});

test('tools whose names are one once they are cleaned are all there, each by its own; one too long is not', async () => {
  await using opened = await open('names', 'connected');
  const said = await Promise.all(
    opened.servers.tools.map(async ({ name }) => [name, await opened.call(name)]),
  );
  expect(Object.fromEntries(said)).toEqual({
    far__get_item: '"get_item"',
    [offeredName('far', 'get.item', true)]: '"get.item"',
    [offeredName('far', 'get item', true)]: '"get item"',
    far__shell: '"shell"',
    far___bell: '"\\u0007bell"',
  });
  expect(opened.servers.states()[0]?.detail).toBe(
    '2 tools have a name, a description or a schema that cannot be used',
  );
});

test('a call in which the owner takes the server out ends, and says so', async () => {
  await using opened = await open('well', 'connected');
  const call = opened.call('far__slow');
  opened.write({ mcpServers: {} });
  await Promise.all([
    expect(call).rejects.toThrow('The tool server far was switched off or taken out.'),
    opened.servers.reload(),
  ]);
});

test('an entry that cannot be used is told of, and takes no other with it', async () => {
  await using opened = await openServers({
    far: { command: 'node', args: [SERVER] },
    'Not a name': { command: 'x' },
    empty: {},
    old: { type: 'sse', url: 'https://far.example/sse' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the server list
    key: { url: 'https://far.example/mcp', headers: { Authorization: 'Bearer ${FAR_KEY}' } },
    file: { url: 'file:///etc/passwd' },
    gone: { command: 'npx', args: ['-y', '@far/server@1'] },
  });
  expect(opened.servers.problems).toEqual([
    expect.stringContaining('"Not a name" needs a name of small letters'),
    'The server "empty" has neither a "command" nor a "url".',
    expect.stringContaining('"old" speaks SSE'),
    'The server "key" needs FAR_KEY in .env.',
    'The server "file" has a wrong "url": it must be http or https.',
  ]);
  await vi.waitFor(() =>
    expect(opened.servers.states()).toMatchObject([
      { name: 'far', state: 'connected' },
      {
        name: 'gone',
        state: 'waiting',
        detail: expect.stringContaining('`npx claw setup mcp install gone`'),
      },
    ]),
  );
});
