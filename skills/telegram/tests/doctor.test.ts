import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import {
  discoverExaminations,
  examineAssistant,
  type Finding,
} from '../../../src/doctor/examination.ts';
import { startBotApi } from './botApi.ts';
import { ADA, TOKEN, telegramExamination } from './fixtures.ts';

type Given = { readonly env: Record<string, string>; readonly online?: boolean };

function subjectOf({ env, online = true }: Given) {
  return {
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment: env,
    settings: readSettings(env, '/nowhere'),
    isOffline: !online,
    now: Date.now,
  };
}

/** Returns the findings of `claw doctor` about Telegram, as it prints them. */
async function found(given: Given): Promise<readonly Finding[]> {
  const own = discoverExaminations().then((all) => all.filter(({ area }) => area === 'telegram'));
  const findings = await examineAssistant(
    subjectOf({ ...given, online: given.online ?? true }),
    own,
  );
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return findings;
}

const environmentOf = (url: string) => ({
  CLAW_SANDBOX: 'podman',
  TELEGRAM_BOT_TOKEN: TOKEN,
  TELEGRAM_ALLOW_FROM: String(ADA.id),
  TELEGRAM_API_ROOT: url,
});

test('the bot is named after Telegram was asked', async () => {
  await using api = await startBotApi({ token: TOKEN });
  expect(await found({ env: environmentOf(api.url) })).toMatchObject([
    { ok: true, message: 'the bot is @andy_bot' },
  ]);
  expect(api.calls.map(({ method }) => method)).toEqual(['getMe']);
});

test('a token that Telegram does not know is told, with what to do, and never shown', async () => {
  await using api = await startBotApi({ token: '1:another' });
  expect(await found({ env: environmentOf(api.url) })).toMatchObject([
    {
      ok: false,
      message: expect.stringMatching(/does not know the bot token\.$/),
      advice: expect.stringContaining('`npx claw setup telegram`'),
    },
  ]);
});

test('where nothing listens, and where something listens and says nothing, is told', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  onTestFinished(() => silent.closeAllConnections());
  const subject = subjectOf({ env: environmentOf(url) });
  const [quiet] = await telegramExamination(1_000).examine(subject);
  expect(quiet?.message).toMatch(/said nothing for 1 s\.$/);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
  const [gone] = await telegramExamination(60_000).examine(subject);
  expect(gone?.message).toMatch(/cannot be reached \(ECONNREFUSED: nothing listens there\./);
  expect(JSON.stringify([quiet, gone])).not.toContain(TOKEN);
});

test('an empty allow-list is told beside the bot; offline nothing is asked', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { ...environmentOf(api.url), TELEGRAM_ALLOW_FROM: '' };
  expect(await found({ env, online: false })).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('TELEGRAM_ALLOW_FROM') },
  ]);
  expect(api.calls).toEqual([]);
});

test('without a token there is no bot, which is no fault', async () => {
  expect(await found({ env: { CLAW_SANDBOX: 'podman' } })).toMatchObject([
    { ok: true, advice: expect.stringContaining('`npx claw setup telegram`') },
  ]);
});
