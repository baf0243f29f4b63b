import { expect, test } from 'vitest';
import { type ListScript, listOf, startOpenAiServer } from '../../testing/model/openai.ts';
import { openModels } from '../model.ts';
import { discoverProviders } from '../provider.ts';
import { openCatalog } from './catalog.ts';
import { nearestModel } from './nearest-model.ts';

test('a server is asked for its models once in ten minutes, with the key, and what it tells is learned', async () => {
  await using there = await catalogOn(
    listOf('small-1', { id: 'large-1', context_length: 9_000 }, 'text-embedding-3', { id: 7 }),
  );
  const { catalog, models, clock } = there;
  const names = ['openai/small-1', 'openai/large-1'];
  expect(await catalog.lists()).toEqual([{ provider: 'openai', names, problem: null }]);
  expect(models.find('openai/large-1')?.contextTokens).toBe(9_000);
  clock.now += 599_000;
  await catalog.look('openai/small-1');
  expect(there.asked).toEqual(['Bearer k']);
  clock.now += 2_000;
  await catalog.look('openai/small-1');
  expect(there.asked).toHaveLength(2);
});

test('a name that would not stay in its place in a line is none, and each counts once', async () => {
  const marks = ['a\nb', 'a\u202eb', 'a\u0007', 'a b', '`a`[b](https://c.example)'];
  await using there = await catalogOn(
    listOf(...marks, 'x'.repeat(1_000_000), { id: ['a'] }, { name: 'a' }, 'ok', 'ok'),
  );
  expect(await there.catalog.lists()).toMatchObject([{ names: ['openai/ok'] }]);
});

test('a window that no agent has room in is taken as not known', async () => {
  const windows = [0, 1, -8_000, 1e12, '8000', 8_000.5];
  const entries = windows.map((context_length, at) => ({ id: `m${at}`, context_length }));
  await using there = await catalogOn(listOf(...entries, 'unknown'));
  const { catalog, models } = there;
  const [list] = await catalog.lists();
  const found = list?.names.map((name) => models.find(name)?.contextTokens) ?? [];
  expect(found).toHaveLength(7);
  expect(new Set(found).size).toBe(1);
});

test('a choice is looked up in a fresh list', async () => {
  let listed = listOf('small-1', 'small-2');
  await using there = await catalogOn((...given) => listed(...given));
  const { catalog, clock } = there;
  await catalog.lists();
  listed = listOf('small-2');
  const name = 'openai/small-1';
  expect(await catalog.look(name, 'now')).toEqual({ kind: 'listed' });
  clock.now += 31_000;
  expect(await catalog.look(name)).toEqual({ kind: 'listed' });
  expect(await catalog.look(name, 'now')).toEqual({ kind: 'missing', nearest: 'openai/small-2' });
  expect(await catalog.look(name)).toMatchObject({ kind: 'missing' });
});

test('a model that is gone is told with its nearest successor; dated and plain names are one', async () => {
  await using there = await catalogOn(
    listOf('gpt-5.2', 'gpt-5-mini', 'gpt-4o-2024-08-06', 'o3', 'qwen3:latest'),
  );
  const look = there.catalog.look;
  expect(await look('openai/gpt-4o')).toEqual({ kind: 'listed' });
  expect(await look('openai/qwen3')).toEqual({ kind: 'listed' });
  expect(await look('openai/gpt-4.1')).toEqual({ kind: 'missing', nearest: 'openai/gpt-5.2' });
  expect(await look('openai/gpt-4.1-mini')).toEqual({
    kind: 'missing',
    nearest: 'openai/gpt-5-mini',
  });
  expect(await look('openai/llama-3')).toEqual({ kind: 'missing', nearest: null });
  expect(await look('acme/x')).toEqual({ kind: 'unknown', problem: 'No provider here has it.' });
});

test('among model names with the same words, the newest version is the nearest', () => {
  const listed = ['claude-opus-4-1', 'claude-sonnet-4-20250514', 'claude-sonnet-5-0'];
  expect(nearestModel('claude-3-7-sonnet-20250219', listed)).toBe('claude-sonnet-5-0');
});

test.each<[string, ListScript, RegExp]>([
  ['hangs', () => {}, /gave no list of models within 5 s/],
  ['hangs in the middle', (response) => void response.write('{"data":['), /within 5 s/],
  ['sends a page', (response) => void response.end('<h1>Hello</h1>'), /answered with no list/],
  ['lists none', listOf('text-embedding-3', { id: '' }), /lists no model that takes a conv/],
  ['sends another object', (response) => void response.end('{"data":{}}'), /answered with no list/],
  ['refuses the key', (response) => void response.writeHead(401).end(), /refused the API key/],
  ['has no list', (response) => void response.writeHead(404).end(), /has no list of models/],
  [
    'sends the key elsewhere',
    (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    /gave no list of models \(302\)/,
  ],
  [
    'never ends',
    (response) => void response.end(`{"data":["${'x'.repeat(9_000_000)}"]}`),
    /longer than 8 MB/,
  ],
])('a server that %s costs a line', async (what, script, problem) => {
  await using there = await catalogOn(script, what.startsWith('hangs'));
  const message = expect.stringMatching(problem);
  expect(await there.catalog.lists()).toEqual([
    { provider: 'openai', names: [], problem: message },
  ]);
  expect(await there.catalog.look('openai/x')).toEqual({ kind: 'unknown', problem: message });
  there.clock.now += 31_000;
  await there.catalog.lists();
  expect(there.asked).toHaveLength(2);
});

/** Where the server hangs, the time is over as soon as it was asked and has sent what it sends. */
async function catalogOn(list: ListScript, hangs = false) {
  const asked: unknown[] = [];
  let clockEnds = new AbortController();
  const server = await startOpenAiServer(
    () => 'ok',
    (response, headers) => {
      asked.push(headers.authorization);
      list(response, headers);
      if (hangs) clockEnds.abort(new DOMException('The time is over.', 'TimeoutError'));
    },
  );
  const environment = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1` };
  const settings = { model: 'openai/small-1', modelContext: null, modelPrice: null };
  const models = openModels(await discoverProviders(), environment, { settings });
  const clock = { now: 0 };
  const timeout = () => {
    clockEnds = new AbortController();
    return clockEnds.signal;
  };
  const catalog = openCatalog({ models, now: () => clock.now, timeout });
  return { catalog, models, clock, asked, [Symbol.asyncDispose]: server.close };
}
