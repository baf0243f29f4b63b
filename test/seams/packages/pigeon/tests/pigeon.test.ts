import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { discoverChannels, openChannels } from '../../../src/channels/channels.ts';
import { examination } from '../../../src/doctor/pigeon.ts';
import { discoverSetupSteps } from '../../../src/setup/step.ts';

const context = {
  assistantName: 'Andy',
  dataDir: '/nowhere',
  log: { info() {}, warn() {} },
  ownerConsole: null,
  clock: { now: () => 0, random: () => 0, pause: async () => {} },
};

test('a message flies to the loft, and the examination finds it there', async () => {
  const flown: string[] = [];
  const server = createServer(async (request, response) => {
    flown.push(`${request.method} ${await text(request)}`);
    response.end('coo');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const PIGEON_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { channels } = openChannels(await discoverChannels(), { PIGEON_URL }, context);
  await channels
    .find(({ name }) => name === 'pigeon')
    ?.send({ id: '1', jid: 'pigeon:ada', text: 'hello' });
  expect(flown).toEqual(['POST {"to":"pigeon:ada","text":"hello"}']);
  const subject = {
    projectDir: '/nowhere',
    dataDir: '/nowhere',
    homeDir: '/nowhere',
    environment: { PIGEON_URL },
    settings: null,
    isOffline: false,
    now: Date.now,
  };
  expect(await examination.examine(subject)).toMatchObject([
    { ok: true, message: 'the loft answers' },
  ]);
  server.close();
});

test('without an address it is silent, and a set-up step asks for one', async () => {
  const { silentChannels } = openChannels(await discoverChannels(), {}, context);
  expect(silentChannels).toContainEqual({ name: 'pigeon', needs: ['PIGEON_URL'], wrong: [] });
  expect((await discoverSetupSteps()).map(({ name }) => name)).toContain('pigeon');
});
