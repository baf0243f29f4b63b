import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { TestProject } from '../../../src/testing/assistant.ts';

test('the page shows the queue and the chats to who has the token, and to nobody else', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const own = (name: string) => readFileSync(join(project.dir, 'data/http', name), 'utf8').trim();
  await vi.waitFor(() => expect(existsSync(join(project.dir, 'data/http/address'))).toBe(true));
  const url = `${own('address')}/queue-page`;
  expect((await fetch(url)).status).toBe(401);
  const login = await fetch(`${url}?token=${own('token')}`, { redirect: 'manual' });
  expect(login.status).toBe(303);
  expect(login.headers.get('location')).toBe('/queue-page');
  const cookie = String(login.headers.get('set-cookie')).split(';', 1)[0] ?? '';
  const page = await fetch(url, { headers: { cookie } });
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain('<p>0 turns wait, 0 run.</p>\n<ul><li>Terminal</li></ul>');
  await assistant.stop();
});
