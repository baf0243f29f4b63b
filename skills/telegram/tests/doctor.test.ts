import { expect, test } from 'vitest';
import {
  discoverExaminations,
  examineAssistant,
  type Finding,
} from '../../../src/doctor/examination.ts';
import { startSilentServer } from '../../../src/testing/channel/far-server.ts';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { startBotApi } from './bot-api.ts';
import { ADA, TOKEN, telegramExamination } from './fixtures.ts';

/** Returns the findings of `claw doctor` about Telegram, as it prints them. */
async function found(
  env: Readonly<Record<string, string>>,
  isOffline = false,
): Promise<readonly Finding[]> {
  const own = discoverExaminations().then((all) => all.filter(({ area }) => area === 'telegram'));
  const findings = await examineAssistant(examinedSettings(env, { isOffline }), own);
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return findings;
}

const environmentOf = (url: string) => ({
  TELEGRAM_BOT_TOKEN: TOKEN,
  TELEGRAM_ALLOW_FROM: String(ADA.id),
  TELEGRAM_API_ROOT: url,
});

test('the bot is named after Telegram was asked', async () => {
  await using api = await startBotApi({ token: TOKEN });
  expect(await found(environmentOf(api.url))).toMatchObject([
    { ok: true, message: 'the bot is @andy_bot' },
  ]);
  expect(api.calls.map(({ method }) => method)).toEqual(['getMe']);
});

test('a token that Telegram does not know is told, with what to do, and never shown', async () => {
  await using api = await startBotApi({ token: '1:another' });
  expect(await found(environmentOf(api.url))).toMatchObject([
    {
      ok: false,
      message: expect.stringMatching(/does not know the bot token\.$/),
      advice: expect.stringContaining('`npx claw setup telegram`'),
    },
  ]);
});

test('where nothing listens, and where something listens and says nothing, is told', async () => {
  const silent = await startSilentServer();
  const subject = examinedSettings(environmentOf(`http://${silent.host}`));
  const [quiet] = await telegramExamination(1_000).examine(subject);
  expect(quiet?.message).toMatch(/said nothing for 1 s\.$/);
  await silent[Symbol.asyncDispose]();
  const [gone] = await telegramExamination(60_000).examine(subject);
  expect(gone?.message).toMatch(/cannot be reached \(ECONNREFUSED: nothing listens there;/);
  expect(JSON.stringify([quiet, gone])).not.toContain(TOKEN);
});

test('an empty allow-list is told beside the bot; offline nothing is asked', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { ...environmentOf(api.url), TELEGRAM_ALLOW_FROM: '' };
  expect(await found(env, true)).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('TELEGRAM_ALLOW_FROM') },
  ]);
  expect(api.calls).toEqual([]);
});

test('a phone number among the user ids is told, as nobody writes under it', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { ...environmentOf(api.url), TELEGRAM_ALLOW_FROM: '10011, 4915112345678' };
  expect((await found(env)).at(1)).toMatchObject({
    ok: false,
    message: expect.stringContaining(
      'TELEGRAM_ALLOW_FROM: 4915112345678 looks like a phone number',
    ),
  });
});

test('without a token there is no bot, which is no fault', async () => {
  expect(await found({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('`npx claw setup telegram`') },
  ]);
});

test('with a webhook it is told whether Telegram delivers there', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const address = 'https://door.example.org/telegram/updates';
  const env = { ...environmentOf(api.url), TELEGRAM_WEBHOOK_URL: address };
  expect((await found(env)).at(1)).toMatchObject({
    ok: false,
    message: 'TELEGRAM_WEBHOOK_URL is set, but the bot has no webhook yet.',
  });
  await fetch(`${api.url}/bot${TOKEN}/setWebhook?url=${address}`);
  expect((await found(env)).at(1)).toMatchObject({
    ok: true,
    message: 'Telegram delivers to TELEGRAM_WEBHOOK_URL',
  });
  api.sendText(ADA, { id: ADA.id, type: 'private' }, 'anybody?');
  await api.until(() => api.webhook.problem !== undefined);
  expect((await found(env)).at(1)).toMatchObject({
    ok: false,
    message: expect.stringContaining('(Connection refused); 1 waiting.'),
  });
  api.setForeignWebhook('');
});
