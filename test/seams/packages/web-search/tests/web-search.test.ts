import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { discoverTools } from '../../../src/host/contracts/tool.ts';
import { openTools } from '../../../src/host/turns/tool-calls/toolbox.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { startWithFamily, toolCaller } from '../../../src/testing/turn/tasks.ts';

const context = {
  assistantName: 'Andy',
  dataDir: '/nowhere',
  groupsDir: '/nowhere',
  timeZone: 'UTC',
  log: { info() {}, warn() {}, error() {} },
  now: () => 0,
  newId: () => 'id',
};

test('the agent of a chat searches with the key, which it never sees', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url, request.headers.authorization);
    response.end(JSON.stringify({ results: [{ title: 'Rain', url: 'https://rain.example/' }] }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const SEARCH_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { tools } = openTools(await discoverTools(), { SEARCH_KEY: 'k1', SEARCH_URL }, context);
  using project = new TestProject();
  const { agent, call } = toolCaller();
  const assistant = await startWithFamily(project, agent, undefined, { tools });
  const results = await call(assistant, 'family', ['web_search', { query: 'rain & wind' }]);
  expect(results).toEqual([{ ok: true, value: [{ title: 'Rain', url: 'https://rain.example/' }] }]);
  expect(asked).toEqual(['/?q=rain%20%26%20wind', 'Bearer k1']);
  await assistant.stop();
  server.close();
});
