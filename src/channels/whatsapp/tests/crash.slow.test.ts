import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer } from '../../../testing/whatsapp/server.ts';

const CHILD = join(import.meta.dirname, '../../../testing/whatsapp/channel-child.ts');
const MESSAGES = 120;
const KILLS = 3;

test('killed again and again while messages come in, it loses none and keeps their order', async () => {
  const server = await startWhatsAppServer();
  const linked = new LinkedChannel(server);
  await linked.pair();
  const anna = server.person({ phoneNumber: '4915111111111', lidNumber: '1000001', name: 'Anna' });
  const store = join(linked.dataDir, 'store.txt');
  const stored = () => (existsSync(store) ? readFileSync(store, 'utf8').trim().split('\n') : []);
  for (let index = 0; index < MESSAGES; index += 1) await server.say(anna, `message ${index}`);
  for (let kill = 1; kill <= KILLS + 1; kill += 1) {
    const child = spawn(process.execPath, [CHILD, linked.dataDir, store, server.url]);
    const count = (MESSAGES * kill) / (KILLS + 1);
    await expect.poll(() => new Set(stored()).size, { interval: 1 }).toBeGreaterThanOrEqual(count);
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  // What was stored in the moment of a kill may come twice; the host knows it by its id.
  const heard = [...new Set(stored())];
  expect(heard).toEqual(Array.from({ length: MESSAGES }, (_, index) => `message ${index}`));
  await linked.close();
  await server.close();
});
