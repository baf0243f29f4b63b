import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endpointOf } from '../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../testing/whatsapp/server.ts';
import type { SetupContext } from './step.ts';
import { setUpWhatsApp } from './whatsapp.ts';

let server: WhatsAppServer;
let dataDir: string;
const said: string[] = [];
beforeEach(async () => {
  server = await startWhatsAppServer();
  dataDir = mkdtempSync(join(tmpdir(), 'claw-setup-'));
  said.length = 0;
});
afterEach(async () => {
  rmSync(dataDir, { recursive: true });
  await server.close();
});

function contextOf(context: Partial<SetupContext>): SetupContext {
  return {
    dataDir,
    args: [],
    isInteractive: true,
    say: (text) => said.push(text),
    ask: () => Promise.reject(new Error('a phone is linked without questions')),
    write: () => {},
    signal: new AbortController().signal,
    ...context,
  };
}

test('a code to type is shown, and the pairing is told', async () => {
  const { phoneNumber } = server.account;
  const args = ['--phone', '+49 151-12345678'];
  const say = (text: string) => {
    const code = /type (\S+)/.exec(text)?.[1] ?? '';
    void server.pairing().then((pairing) => pairing.enterCode(code));
  };
  const outcome = await setUpWhatsApp(contextOf({ args, say }), endpointOf(server));
  expect(outcome).toMatchObject({ data: { phoneNumber } });
  expect(outcome.summary).toContain(`+${phoneNumber}`);
});

test('a terminal shows the QR code, dark on light', async () => {
  const stop = new AbortController();
  const say = (text: string) => {
    said.push(text);
    stop.abort();
  };
  const running = setUpWhatsApp(contextOf({ say, signal: stop.signal }), endpointOf(server));
  await expect(running).rejects.toMatchObject({ name: 'SetupRefused' });
  expect(said).toHaveLength(1);
  expect(said[0]?.split('\n').filter((line) => line.startsWith('\x1b[30;107m'))).toSatisfy(
    (lines: string[]) => lines.length > 20 && lines.every((line) => /[█▀▄ ]/.test(line)),
  );
});

test('a terminal with too few lines for the code says so below it, and the code is on a page as well', async () => {
  const stop = new AbortController();
  const pages: Promise<string>[] = [];
  const say = (text: string) => {
    said.push(text);
    const url = /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(text)?.[0];
    if (url === undefined) return stop.abort();
    pages.push(fetch(url).then((answer) => answer.text()));
    void pages[0]?.finally(() => stop.abort());
  };
  const running = setUpWhatsApp(
    contextOf({ say, rows: 24, signal: stop.signal }),
    endpointOf(server),
  );
  await expect(running).rejects.toMatchObject({ name: 'SetupRefused' });
  const [code = '', ...words] = (said[0] ?? '').split(/\x1b\[0m\n(?!\x1b)/);
  const lines = code.split('\n').length + 3;
  expect(words.join('')).toMatch(/^On the phone: .*\nThe code does not fit: it takes \d+ lines/);
  expect(words.join('')).toContain(`${lines} lines, and this window has 24. Enlarge it, or open`);
  expect(await pages[0]).toContain('<svg');
});

test('without a terminal the QR code is a picture, and a page on this machine alone', async () => {
  const stop = new AbortController();
  const context = contextOf({ isInteractive: false, signal: stop.signal });
  const running = setUpWhatsApp(context, endpointOf(server));
  const picture = join(dataDir, 'whatsapp', 'pairing.svg');
  await expect.poll(() => existsSync(picture)).toBe(true);
  const svg = readFileSync(picture, 'utf8');
  expect(svg).toMatch(/^<svg/);
  const url = /http:\/\/127\.0\.0\.1:\d+\/\w+/.exec(said.join('\n'))?.[0] ?? '';
  expect(await (await fetch(url)).text()).toContain(svg);
  expect((await fetch(new URL('/', url))).status).toBe(404);
  stop.abort();
  await expect(running).rejects.toMatchObject({ name: 'SetupRefused' });
  expect(existsSync(picture)).toBe(false);
});

test('a code and its address are announced when there is one, and never where none comes', async () => {
  const stop = new AbortController();
  const say = (text: string) => {
    said.push(text);
    if (text.includes('Asking'))
      expect(existsSync(join(dataDir, 'whatsapp', 'pairing.svg'))).toBe(false);
    else {
      expect(existsSync(join(dataDir, 'whatsapp', 'pairing.svg'))).toBe(true);
      stop.abort();
    }
  };
  const context = contextOf({ isInteractive: false, say, signal: stop.signal });
  await expect(setUpWhatsApp(context, endpointOf(server))).rejects.toMatchObject({
    name: 'SetupRefused',
  });
  expect(said).toEqual(['Asking WhatsApp for a code.', expect.stringContaining('It is at ')]);
  said.length = 0;
  const offline = { ...endpointOf(server), socketUrl: 'ws://127.0.0.1:9' };
  const away = contextOf({ isInteractive: false });
  await expect(setUpWhatsApp(away, offline)).rejects.toThrow('cannot be reached');
  expect(said).toEqual(['Asking WhatsApp for a code.']);
});

test.each([[['--phone', '0151 123']], [['--colour']], [['now']]])(
  '%j is wrong use, and nothing is asked of WhatsApp',
  async (args) => {
    const running = setUpWhatsApp(contextOf({ args }), endpointOf(server));
    await expect(running).rejects.toMatchObject({ isWrongUse: true });
    expect(server.versions).toEqual([]);
  },
);
