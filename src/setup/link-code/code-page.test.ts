import { expect, test } from 'vitest';
import { openCodePage } from './code-page.ts';

const WORDS = { title: 'Pigeon', how: 'Scan this code.' };
const textOf = async (url: string | URL) => await (await fetch(url)).text();

test('the page shows the newest code and hears of each new one, up to how it ended', async () => {
  const page = await openCodePage(WORDS);
  expect(await textOf(page.url)).toContain('Waiting for a code');
  page.show('<svg>one</svg>');
  expect(await textOf(page.url)).toContain('<svg>one</svg>');
  const changes = (await fetch(`${page.url}/changes`)).body?.getReader();
  const next = async () => new TextDecoder().decode((await changes?.read())?.value);
  expect(await next()).toBe(': open\n\n');
  page.show('<svg>two</svg>');
  expect(await next()).toContain('data:');
  const shown = await textOf(page.url);
  expect(shown).toContain('<svg>two</svg>');
  expect(shown).not.toContain('<svg>one');
  const closing = page.close('Paired with +49 <b>.');
  expect(await next()).toContain('data:');
  const ending = await textOf(page.url);
  expect(ending).toContain('<p>Paired with +49 &lt;b>.</p>');
  expect(ending).not.toContain('EventSource');
  await closing;
  await expect(fetch(page.url)).rejects.toThrow('fetch failed');
});

test('nobody gets the page without its address, which works only on this machine', async () => {
  const page = await openCodePage(WORDS);
  expect(new URL(page.url).hostname).toBe('127.0.0.1');
  expect(page.url).toMatch(/\/[0-9a-f]{32}$/);
  for (const path of ['/', '/changes', '/favicon.ico', `${new URL(page.url).pathname}x`]) {
    expect((await fetch(new URL(path, page.url))).status).toBe(404);
  }
  const { headers } = await fetch(page.url);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  await page.close('over');
});
