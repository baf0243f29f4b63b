import { expect, test } from 'vitest';
import {
  discoverExaminations,
  examineAssistant,
  type Finding,
} from '../../../src/doctor/examination.ts';
import { startSilentServer } from '../../../src/testing/channel/far-server.ts';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { discordExamination, settingsOf, startServer, TOKEN } from './fixtures.ts';

/** Returns the findings of `claw doctor` about Discord, as it prints them. */
async function found(
  env: Readonly<Record<string, string>>,
  isOffline = false,
): Promise<readonly Finding[]> {
  const own = discoverExaminations().then((all) => all.filter(({ area }) => area === 'discord'));
  const findings = await examineAssistant(examinedSettings(env, { isOffline }), own);
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return findings;
}

test('the bot is named after Discord has taken its token; nothing is connected', async () => {
  await using discord = await startServer();
  expect(await found(settingsOf(discord))).toMatchObject([
    { ok: true, message: 'the bot is andy' },
  ]);
  expect(discord.connections).toBe(0);
});

test('a token that Discord refuses, a missing intent and an empty list are told; offline nothing is asked', async () => {
  await using discord = await startServer();
  discord.readsMessages = false;
  const env = { ...settingsOf(discord), DISCORD_ALLOW_FROM: '' };
  expect(await found(env, true)).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('DISCORD_ALLOW_FROM') },
  ]);
  expect(discord.calls).toEqual([]);
  expect(await found(settingsOf(discord))).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining('MESSAGE CONTENT INTENT') },
  ]);
  const wrong = { ...settingsOf(discord), DISCORD_BOT_TOKEN: 'a.wrong.one' };
  expect(await found(wrong)).toMatchObject([
    { ok: false, message: expect.stringContaining('does not know the bot token') },
  ]);
  expect(await found({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('`npx claw setup discord`') },
  ]);
});

test('where something listens and says nothing is told', async () => {
  await using silent = await startSilentServer();
  const subject = examinedSettings(settingsOf({ url: `http://${silent.host}/api` }));
  const quiet = await discordExamination(300).examine(subject);
  expect(quiet).toMatchObject([
    { ok: false, message: expect.stringContaining('cannot be reached') },
  ]);
});
