import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { discoverServices } from '../../../src/host/contracts/service.ts';
import { openServices } from '../../../src/host/services/services.ts';
import { answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';

const WEBHOOK_SECRET = 'sixteen letters or more';

/** Sends a push as the far end does, signed. Returns the status of the answer. */
async function push(url: string, body: string, secret = WEBHOOK_SECRET): Promise<number> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-signature': signature };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

test('a signed push is handed to the agent, once, also after a restart; any other is refused', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const agent = async ({ prompt }: { readonly prompt: string }) => {
    prompts.push(prompt);
    return answers('The door rang.');
  };
  const start = () => project.start({ agent, environment: { WEBHOOK_SECRET } });
  const address = join(project.dir, 'data/http/address');
  const first = await start();
  await vi.waitFor(() => expect(existsSync(address)).toBe(true));
  const url = `${readFileSync(address, 'utf8').trim()}/webhook/push`;
  expect(await push(url, '{"door": 1}', 'another secret, as long')).toBe(401);
  expect((await fetch(url, { method: 'POST', body: '{"door": 1}' })).status).toBe(401);
  expect(await push(url, '{"door": 1}')).toBe(202);
  expect(await push(url, '{"door": 1}')).toBe(200);
  await isIdle(first);
  expect(prompts).toEqual([expect.stringMatching(/A webhook said, from outside:\n\{"door": 1\}$/)]);
  expect(textsOf(first.terminal)).toEqual(['The door rang.']);
  await first.stop();
  const second = await start();
  await vi.waitFor(async () => expect(await push(url, '{"door": 1}')).toBe(200));
  expect(await push(url, '{"door": 2}')).toBe(202);
  await isIdle(second);
  expect(prompts).toHaveLength(2);
  await second.stop();
});

test('without a secret, or with a short one, nothing listens', async () => {
  const definitions = await discoverServices();
  for (const environment of [{}, { WEBHOOK_SECRET: 'short' }]) {
    const { silent } = openServices(definitions, environment);
    expect(silent.map(({ name }) => name)).toEqual(['webhook']);
  }
});
