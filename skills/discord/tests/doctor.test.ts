import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import {
  discoverExaminations,
  examineAssistant,
  type Finding,
} from '../../../src/doctor/examination.ts';
import { discordExamination, settingsOf, startServer, TOKEN } from './fixtures.ts';

type Given = { readonly env: Readonly<Record<string, string>>; readonly online?: boolean };

function subjectOf({ env, online = true }: Given) {
  const environment = { CLAW_SANDBOX: 'podman', ...env };
  return {
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment,
    settings: readSettings(environment, '/nowhere'),
    isOffline: !online,
    now: Date.now,
  };
}

/** Returns the findings of `claw doctor` about Discord, as it prints them. */
async function found(given: Given): Promise<readonly Finding[]> {
  const own = discoverExaminations().then((all) => all.filter(({ area }) => area === 'discord'));
  const findings = await examineAssistant(subjectOf(given), own);
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return findings;
}

test('the bot is named after Discord has taken its token; nothing is connected', async () => {
  await using discord = await startServer();
  expect(await found({ env: settingsOf(discord) })).toMatchObject([
    { ok: true, message: 'the bot is andy' },
  ]);
  expect(discord.connections).toBe(0);
});

test('a token that Discord refuses, a missing intent and an empty list are told; offline nothing is asked', async () => {
  await using discord = await startServer();
  discord.readsMessages = false;
  const env = { ...settingsOf(discord), DISCORD_ALLOW_FROM: '' };
  expect(await found({ env, online: false })).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('DISCORD_ALLOW_FROM') },
  ]);
  expect(discord.calls).toEqual([]);
  expect(await found({ env: settingsOf(discord) })).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining('MESSAGE CONTENT INTENT') },
  ]);
  const wrong = { ...settingsOf(discord), DISCORD_BOT_TOKEN: 'a.wrong.one' };
  expect(await found({ env: wrong })).toMatchObject([
    { ok: false, message: expect.stringContaining('does not know the bot token') },
  ]);
  expect(await found({ env: {} })).toMatchObject([
    { ok: true, advice: expect.stringContaining('`npx claw setup discord`') },
  ]);
});

test('where something listens and says nothing is told', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/api`;
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const quiet = await discordExamination(300).examine(subjectOf({ env: settingsOf({ url }) }));
  expect(quiet).toMatchObject([
    { ok: false, message: expect.stringContaining('cannot be reached') },
  ]);
});
