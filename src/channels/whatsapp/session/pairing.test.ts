import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLOCK, endpointOf } from '../../../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../../testing/whatsapp/server.ts';
import { whatsAppFolder } from './link-database.ts';
import { type PairingMethod, pair } from './pairing.ts';

let server: WhatsAppServer;
let dataDir: string;
beforeEach(async () => {
  server = await startWhatsAppServer();
  dataDir = mkdtempSync(join(tmpdir(), 'claw-pairing-'));
});
afterEach(async () => {
  rmSync(dataDir, { recursive: true });
  await server.close();
});

function options(method: PairingMethod, isAgain = false) {
  const log = { info: () => {}, warn: () => {} };
  const { signal } = new AbortController();
  return { dataDir, method, log, clock: CLOCK, signal, isAgain, endpoint: endpointOf(server) };
}

const byQr: PairingMethod = {
  kind: 'qr',
  show: (qr) => void server.pairing().then((pairing) => pairing.scan(qr)),
};

test('by QR code: the phone scans, the restart is followed, and the login works', async () => {
  const { phoneNumber } = server.account;
  expect(await pair(options(byQr))).toEqual({ phoneNumber });
  expect(server.account.keys?.preKeys.length).toBeGreaterThan(0);
});

test('by a code that the owner types on the phone', async () => {
  const codes: string[] = [];
  const show = (code: string) => {
    codes.push(code);
    void server.pairing().then((pairing) => pairing.enterCode(code));
  };
  const { phoneNumber } = server.account;
  expect(await pair(options({ kind: 'code', phoneNumber, show }))).toEqual({ phoneNumber });
  expect(codes).toEqual([expect.stringMatching(/^[1-9A-Z]{4}-[1-9A-Z]{4}$/)]);
});

test('credentials are for their owner’s eyes alone', async () => {
  await pair(options(byQr));
  const folder = whatsAppFolder(dataDir);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const files = readdirSync(folder);
  expect(files).toContain('link.db');
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
});

test('an installation that is paired is paired again only where that is asked for', async () => {
  await pair(options(byQr));
  await expect(pair(options(byQr))).rejects.toMatchObject({ code: 'ALREADY_PAIRED' });
  server.account.paired = null;
  expect(await pair(options(byQr, true))).toMatchObject({});
});

test('broken off before the phone has accepted, nothing is kept', async () => {
  const stop = new AbortController();
  const method = { kind: 'qr' as const, show: () => stop.abort() };
  const pairing = pair({ ...options(method), signal: stop.signal });
  await expect(pairing).rejects.toMatchObject({ code: 'PAIRING_FAILED' });
  expect(await pair(options(byQr))).toMatchObject({ phoneNumber: server.account.phoneNumber });
});
