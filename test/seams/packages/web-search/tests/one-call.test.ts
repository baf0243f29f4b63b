import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { toolCall, toolContext } from '../../../src/testing/turn/tool-call.ts';
import { tool } from '../../../src/tools/web-search.ts';

test('a server that refuses is said in words', async () => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const SEARCH_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const opened = tool.open({ SEARCH_KEY: 'k1', SEARCH_URL }, toolContext());
  if (opened.kind !== 'made' || opened.value?.kind !== 'one') throw new Error('It stayed silent.');
  const search = opened.value.tool;
  await expect(search.run(toolCall(), { query: 'rain' })).rejects.toThrow('answered 503');
  server.close();
});
