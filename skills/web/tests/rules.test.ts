import { expect, test } from 'vitest';
import { openTools } from '../../../src/host/turns/tool-calls/toolbox.ts';
import { TestProject } from '../../../src/testing/assistant.ts';
import { startWithFamily, toolCaller as toolCallerOf } from '../../../src/testing/turn/tasks.ts';
import { toolContext } from '../../../src/testing/turn/tool-call.ts';
import { webFetch } from '../../../src/tools/web/fetch-tool.ts';
import { page, redirect, testNet, toolCaller } from './net.ts';

test('each chat reads the sites that the owner lets it read, redirects and the cache included', async () => {
  await using net = await testNet({
    'wiki.example': page('wiki'),
    'en.wiki.example': page('english'),
    'games.example': page('games'),
    'short.example': redirect('http://games.example/'),
    'notwiki.example': page('not wiki'),
  });
  const { call } = toolCaller(webFetch(net.internet), {
    WEB_ALLOW: 'kids:wiki.example, kids:short.example',
    WEB_DENY: 'club:*, notwiki.example',
  });
  const read = (folder: string, site: string) => call({ url: `http://${site}/` }, folder);
  expect(await read('main', 'games.example')).toContain('games');
  expect(await read('main', 'short.example')).toContain('games');
  expect(await read('kids', 'en.wiki.example')).toContain('english');
  const only = 'The owner lets this chat read only these sites: wiki.example, short.example.';
  await expect(read('kids', 'games.example')).rejects.toThrow(only);
  await expect(read('kids', 'short.example')).rejects.toThrow(only);
  await expect(read('club', 'wiki.example')).rejects.toThrow(
    'The owner does not let this chat read wiki.example.',
  );
  await expect(read('main', 'notwiki.example')).rejects.toThrow('does not let');
});

test('a list that cannot be read switches the tool off, and the setting is named', () => {
  const opened = webFetch({} as never).open(
    { WEB_DENY: 'kids:games.example, kids:bad_one!' },
    toolContext(),
  );
  expect(opened).toMatchObject({ kind: 'wrong-settings', wrong: [{ name: 'WEB_DENY' }] });
});

test('what a site does not want to be read is read only where the owner did not ask for that', async () => {
  let asked = 0;
  await using net = await testNet({
    'shy.example': (request, response) => {
      if (request.url !== '/robots.txt') return page('text')(request, response);
      asked += 1;
      const rules = 'User-agent: *\nDisallow: /private\nAllow: /private/but\n';
      page(rules, { 'content-type': 'text/plain' })(request, response);
    },
    'open.example': (request, response) => {
      if (request.url !== '/robots.txt') return page('text')(request, response);
      response.writeHead(404).end();
    },
    'sick.example': (request, response) => {
      if (request.url !== '/robots.txt') return page('text')(request, response);
      response.writeHead(503).end();
    },
  });
  const polite = toolCaller(webFetch(net.internet), { WEB_ROBOTS: 'yes' });
  const read = (address: string) => polite.call({ url: `http://${address}` });
  await expect(read('shy.example/private/x')).rejects.toThrow(
    'shy.example does not want programs to read this page (robots.txt).',
  );
  expect(await read('shy.example/private/but')).toContain('text');
  expect(await read('shy.example/')).toContain('text');
  expect(asked).toBe(1);
  polite.time.now += 86_400_001;
  expect(await read('shy.example/other')).toContain('text');
  expect(asked).toBe(2);
  expect(await read('open.example/any')).toContain('text');
  await expect(read('sick.example/')).rejects.toThrow('cannot say what may be read: error 503');
  const direct = toolCaller(webFetch(net.internet));
  expect(await direct.call({ url: 'http://shy.example/private/x' })).toContain('text');
});

test('the agent of a chat reads a page in its turn, and its end mark is never cut off', async () => {
  await using net = await testNet({ 'long.example': page('日本語'.repeat(100_000)) });
  const { tools } = openTools([webFetch(net.internet)], {}, toolContext({ newId: () => 'n1' }));
  using project = new TestProject();
  const { agent, call } = toolCallerOf();
  const assistant = await startWithFamily(project, agent, undefined, { tools });
  const [long, refused] = await call(
    assistant,
    'family',
    ['web_fetch', { url: 'http://long.example/', length: 40_000 }],
    ['web_fetch', { url: 'file:///etc/passwd' }],
  );
  expect(long).toMatchObject({
    ok: true,
    value: expect.stringContaining('[web n1 ends]\nCharacters 0 to '),
  });
  expect(refused).toEqual({
    ok: false,
    value: 'Only http and https addresses can be read, not file.',
  });
  await assistant.stop();
});
