import { expect, test } from 'vitest';
import { webExamination } from '../../../src/doctor/web.ts';
import { webSetup } from '../../../src/setup/web.ts';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { localServer } from './net.ts';
import { googleServer, searchServer } from './search-servers.ts';

const at = (address: string) => ({
  brave: address,
  tavily: address,
  google: address,
  duckduckgo: address,
});

const subject = (environment: Readonly<Record<string, string>>, isOffline = false) => ({
  projectDir: '/nowhere',
  dataDir: '/nowhere/data',
  homeDir: '/nowhere',
  environment,
  settings: null,
  isOffline,
  now: () => 0,
});

test('a key is tried with its server before anything is written', async () => {
  const wrong = searchServer({ status: 401, body: '{}' });
  const right = searchServer('brave');
  await using server = await localServer((request, response) => {
    const isRight = request.headers['x-subscription-token'] === 'right';
    void (isRight ? right : wrong).handler(request, response);
  });
  const { context, problems, written } = ownerAtKeyboard(['bing', 'Brave', 'wrong', ' right ']);
  const setup = webSetup(at(server.address));
  expect(setup.currentState({}, '/nowhere')).toBeNull();
  const outcome = await setup.run({}, context);
  expect(problems).toEqual([
    'Type one of brave, tavily, google, searxng, duckduckgo.',
    expect.stringContaining('Brave does not accept the key.'),
  ]);
  expect(written).toEqual({ WEB_SEARCH: 'brave', BRAVE_SEARCH_API_KEY: 'right' });
  expect(outcome.summary).toBe('Agents search the web by brave.');
  expect(setup.currentState(written, '/nowhere')).toBe('searches by brave');
  await expect(setup.run({}, { ...context, args: ['--key'] })).rejects.toThrow('no options');
});

test('Google needs an engine and a key, which are tried together', async () => {
  await using server = await localServer(
    googleServer({ key: 'AIza-right', engine: 'cx-1' }).handler,
  );
  const owner = ownerAtKeyboard(['google', ' ', 'cx-1', 'AIza-wrong', 'AIza-right']);
  await webSetup(at(server.address)).run({}, owner.context);
  expect(owner.problems).toEqual([
    'Type it here.',
    'Google does not accept the key. The owner can set another in GOOGLE_SEARCH_KEY.',
  ]);
  expect(owner.written).toEqual({
    WEB_SEARCH: 'google',
    GOOGLE_SEARCH_ENGINE: 'cx-1',
    GOOGLE_SEARCH_KEY: 'AIza-right',
  });
});

test('an address is tried as well, and a server without a key is set with a word on how it does', async () => {
  const { handler } = searchServer('searxng');
  await using server = await localServer(handler);
  const searxng = ownerAtKeyboard(['searxng', 'http://127.0.0.1:1', server.address]);
  await webSetup().run({}, searxng.context);
  expect(searxng.problems).toEqual([
    'SearXNG cannot be reached: ECONNREFUSED: nothing listens there; check the address, and whether the server runs',
  ]);
  expect(searxng.written).toEqual({ WEB_SEARCH: 'searxng', SEARXNG_URL: server.address });
  await using refusing = await localServer(searchServer({ status: 202, body: '' }).handler);
  const duck = ownerAtKeyboard(['duckduckgo']);
  await webSetup(at(refusing.address)).run({}, duck.context);
  expect(duck.said).toEqual([
    expect.stringContaining('It is set nevertheless, and may work later.'),
  ]);
  expect(duck.written).toEqual({ WEB_SEARCH: 'duckduckgo' });
});

test('the doctor searches once, and says what is wrong and what to do', async () => {
  await using server = await localServer(searchServer('tavily').handler);
  await using sick = await localServer(searchServer({ status: 429, body: '' }).handler);
  const settings = { TAVILY_API_KEY: 'tvly-1' };
  const examine = (address: string, environment: Record<string, string>, isOffline = false) =>
    webExamination(at(address)).examine(subject(environment, isOffline));
  expect(await examine(server.address, settings)).toMatchObject([
    { ok: true, message: 'tavily answers searches' },
  ]);
  expect(await examine(sick.address, settings)).toMatchObject([
    {
      ok: false,
      message: expect.stringContaining('limit is reached'),
      advice: expect.stringContaining('npx claw setup web'),
    },
  ]);
  expect(await examine(server.address, settings, true)).toMatchObject([
    { ok: true, message: 'tavily is set for searches; it was not asked' },
  ]);
  expect(await examine(server.address, { WEB_SEARCH: 'off' })).toMatchObject([{ ok: true }]);
});
