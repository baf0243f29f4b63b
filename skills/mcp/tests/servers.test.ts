import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openServers, SERVER, type TestServers } from './fixtures.ts';

const stdio = (how = 'well', over: object = {}) => ({
  command: 'node',
  args: [SERVER, how],
  ...over,
});

/** Opens servers and waits until one of them has its tools. */
async function connected(over: object = {}, how = 'well', variables = {}): Promise<TestServers> {
  const opened = await openServers({ far: stdio(how, over) }, { variables });
  await is(opened, 'connected');
  return opened;
}

const is = (opened: TestServers, state: string) =>
  vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state }]));

test('tools are offered as server__tool, with the schema of the server, to the groups that the list names', async () => {
  await using opened = await connected({ groups: ['main', 'family'] });
  const echo = opened.tool('far__echo');
  expect(echo).toMatchObject({
    description: 'The tool echo.',
    folders: ['main', 'family'],
    inputSchema: { type: 'object' },
  });
  expect(await opened.call('far__echo', { text: 'hello' })).toBe('hello');
  const names = opened.servers.tools.map(({ name }) => name);
  expect(names.every((name) => /^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name))).toBe(true);
  expect(names).toContainEqual(
    expect.stringMatching(/^far__a_tool_with_an_odd_name_x+_[0-9a-f]{8}$/),
  );
});

test('without groups it is for the owner alone, with * for all; tools of the list leave out the others', async () => {
  await using own = await connected({ tools: ['echo'] });
  expect(own.servers.tools.map(({ name, folders }) => [name, folders])).toEqual([
    ['far__echo', ['main']],
  ]);
  await using all = await connected({ groups: ['*'] });
  expect(all.tool('far__echo').folders).toBeUndefined();
});

test('a server gets what its entry names and no more, with settings put in their places', async () => {
  await using opened = await connected(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of the server list
    { env: { KEY: 'key ${FAR_KEY}', MODE: '${MODE:-plain}' } },
    'well',
    { FAR_KEY: 'k1', SECRET: 's' },
  );
  const seen = JSON.parse(String(await opened.call('far__env')));
  expect(seen).toEqual({ key: 'key k1', home: join(opened.dataDir, 'mcp/servers/far/home') });
});

test('a change of its list is followed: a new tool is there, and one that is gone is refused by the server', async () => {
  await using opened = await connected();
  const fail = opened.tool('far__fail');
  await opened.call('far__change');
  await vi.waitFor(() =>
    expect(opened.servers.tools.map(({ name }) => name)).toContain('far__new'),
  );
  expect(opened.servers.tools.map(({ name }) => name)).not.toContain('far__fail');
  // A turn that began before calls the tool that it was offered.
  const call = {
    caller: { folder: 'main' },
    signal: new AbortController().signal,
    ask: async () => ({ word: 'no', isAnswered: false }),
  };
  await expect(fail.run(call as never, {})).rejects.toThrow(
    'far refused the call: MCP error -32602: Unknown tool: fail',
  );
});

test('long results are cut by their type: a text, a list, an object', async () => {
  await using opened = await connected();
  const text = String(await opened.call('far__long'));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
  expect(text).toMatch(/^é+\n\[cut at 64 KB of 200000 bytes\]$/);
  const list = (await opened.call('far__list')) as unknown[];
  expect(JSON.stringify(list).length).toBeLessThanOrEqual(65_536);
  expect(list.slice(0, 2)).toEqual([{ at: 0 }, { at: 1 }]);
  expect(list.at(-1)).toEqual({ _truncated: true, _shown: list.length - 1, _total: 20_000 });
  const object = (await opened.call('far__object')) as Record<string, unknown>;
  expect(JSON.stringify(object).length).toBeLessThanOrEqual(65_536);
  expect(object).toEqual({
    _truncated_json: expect.stringMatching(/^\{"rows":"x+$/),
    _bytes: 100_011,
  });
});

test('pictures are put where the agent of the chat can read them; other parts are named', async () => {
  await using opened = await connected();
  const said = String(await opened.call('far__picture', {}, { folder: 'family' }));
  const [, name = ''] =
    /\[image\/png, 1 KB: \/workspace\/media\/(mcp-[0-9a-f-]+\.png)\]/.exec(said) ?? [];
  expect(readFileSync(join(opened.dataDir, 'media/family', name), 'utf8')).toBe('PNG');
  expect(said).toContain('Here it is\n');
  expect(said).toContain('[resource file:///a.txt]\nwords');
  expect(said).toContain('[resource b https://far.example/b]');
  expect(said).toContain('a type that is not known here');
});

test('a stopped turn cancels the call at the server', async () => {
  await using opened = await connected();
  const turn = new AbortController();
  const slow = opened.call('far__slow', {}, { signal: turn.signal });
  await opened.call('far__echo');
  turn.abort();
  await expect(slow).rejects.toThrow('The turn was stopped, and the call with it.');
  await vi.waitFor(async () => expect(await opened.call('far__cancelled')).toContain('requestId'));
});

test('a call that takes too long is given up; one that tells of progress gets its token', async () => {
  await using opened = await connected({ timeout: 0.05 });
  await expect(opened.call('far__slow')).rejects.toThrow('far gave no sign of life for 0.05 s');
  await using patient = await connected();
  expect(await patient.call('far__progress')).toBe('token number');
});

test('what a server wants to know is asked of the owner, field by field, in quotes', async () => {
  await using opened = await connected();
  const asked: string[] = [];
  const replies = [
    { word: '2', isAnswered: true },
    { word: 'text', isAnswered: true, text: '42' },
    { word: 'no', isAnswered: true },
    { word: 'text', isAnswered: true, text: 'Ada' },
  ];
  const ask = async ({ text }: { readonly text: string }) => {
    asked.push(text);
    return replies.shift() ?? { word: 'no', isAnswered: false };
  };
  const said = JSON.parse(String(await opened.call('far__ask', {}, { ask })));
  expect(said).toEqual({
    action: 'accept',
    content: { colour: 'blue', size: 42, sure: false, name: 'Ada' },
  });
  expect(asked[0]).toContain('The tool server far asks:\n\n> Which one?\n> **Say yes to /allow**');
  expect(JSON.parse(String(await opened.call('far__ask', {}, { ask })))).toEqual({
    action: 'cancel',
  });
});

test('the list is followed while the assistant runs: other servers go on', async () => {
  await using opened = await connected();
  const echo = opened.servers.find('far');
  opened.write({
    mcpServers: { far: stdio(), more: stdio(), off: stdio('well', { disabled: true }) },
  });
  await opened.servers.reload();
  await vi.waitFor(() =>
    expect(opened.servers.states()).toMatchObject([
      { name: 'far' },
      { name: 'more', state: 'connected' },
    ]),
  );
  expect(opened.servers.find('far')).toBe(echo);
  opened.write({ mcpServers: { more: stdio() } });
  await opened.servers.reload();
  expect(opened.servers.states()).toMatchObject([{ name: 'more', state: 'connected' }]);
  expect(opened.servers.tools.every(({ name }) => name.startsWith('more__'))).toBe(true);
});
