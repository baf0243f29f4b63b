import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { discoverChannels, openChannels } from '../../../src/channels/channels.ts';
import { readAddress } from '../../../src/http/files.ts';
import { answers, TestProject } from '../../../src/testing/assistant.ts';

const SECRET = 'a-secret-of-the-gulls';
const sign = (body: string) => createHmac('sha256', SECRET).update(body).digest('hex');
const context = {
  assistantName: 'Andy',
  dataDir: '/nowhere',
  log: { info() {}, warn() {} },
  ownerConsole: null,
  clock: { now: () => 0, random: () => 0, pause: async () => {} },
};

test('a letter that is delivered with its signature is stored before it is acknowledged, and answered', async () => {
  const answered: string[] = [];
  const roost = createServer(async (request, response) => {
    const body = await text(request);
    if (request.headers['x-signature'] === sign(body)) answered.push(body);
    response.end();
  });
  await new Promise<void>((done) => roost.listen(0, '127.0.0.1', done));
  const environment = {
    GULL_ROOST: `http://127.0.0.1:${(roost.address() as AddressInfo).port}`,
    GULL_SECRET: SECRET,
    GULL_ALLOW_FROM: 'ada',
  };
  const definitions = (await discoverChannels()).filter(({ name }) => name === 'gull');
  const { channels } = openChannels(definitions, environment, context);
  using project = new TestProject();
  const assistant = await project.start({ channels, agent: async () => answers('pong') });
  const url = `${readAddress(join(project.dir, 'data'))}/gull/letters`;
  const deliver = async (from: string, signature?: string, origin?: string) => {
    const body = JSON.stringify({ id: `of ${from}`, from, text: 'ping', at: 1 });
    const headers = { 'x-signature': signature ?? sign(body), ...(origin && { origin }) };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  expect(await deliver('ada', 'ab'.repeat(32))).toBe(401);
  expect(await deliver('ada', '')).toBe(401);
  expect(await deliver('ada', undefined, 'http://evil.example')).toBe(403);
  expect(await deliver('eve')).toBe(204);
  expect(assistant.store.groups.byJid('gull:eve')).toBeNull();
  expect(assistant.store.groups.byJid('gull:ada')).toBeNull();
  expect(await deliver('ada')).toBe(204);
  expect(assistant.store.messages.has('gull:ada', 'of ada')).toBe(true);
  // A gull that comes twice brings one letter.
  expect(await deliver('ada')).toBe(204);
  await vi.waitFor(() => expect(answered).toHaveLength(1));
  expect(JSON.parse(answered[0] ?? '')).toMatchObject({ to: 'ada', text: 'pong' });
  await assistant.stop();
  await expect(deliver('ada')).rejects.toThrow();
  roost.close();
});
