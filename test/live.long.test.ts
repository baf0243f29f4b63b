import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Channel, ChannelEvents, ChannelStatus } from '../src/channels/channel.ts';
import { discoverChannels, openChannels } from '../src/channels/channels.ts';
import { pause } from '../src/channels/kit/backoff.ts';
import { readSettings } from '../src/config.ts';
import { completeText } from '../src/model/completion.ts';
import { openModels } from '../src/model/model.ts';
import { discoverProviders } from '../src/model/provider.ts';
import { openMemoryDatabases } from '../src/store/own-databases.ts';

/*
 * Real services, with the tokens of the environment. Channels and providers are those of this tree: apply a skill, and it
 * is here. What has no token is skipped, by name.
 */
const ENVIRONMENT = process.env;
const settingOf = (name: string): string | undefined => ENVIRONMENT[name] || undefined;
const chatSetting = (channel: string): string =>
  `LIVE_CHAT_${channel.toUpperCase().replaceAll('-', '_')}`;
const modelSetting = (provider: string): string =>
  `LIVE_MODEL_${provider.toUpperCase().replaceAll('-', '_')}`;
/** With `LIVE_REPLY=1` a person copies the word that each chat is sent into the same chat. */
const HAS_PERSON = settingOf('LIVE_REPLY') === '1';

const channels = (await discoverChannels()).filter(({ name }) => name !== 'terminal');
const providers = await discoverProviders();

describe('each channel', () => {
  for (const definition of channels) {
    const chat = settingOf(chatSetting(definition.name));
    test.skipIf(chat === undefined)(
      `${definition.name} logs in and sends to a chat (${chatSetting(definition.name)}), which can be read`,
      async () => {
        const dataDir = mkdtempSync(join(tmpdir(), 'claw-live-'));
        const { channels: opened, silentChannels } = openChannels(
          [definition],
          ENVIRONMENT,
          {
            assistantName: 'Andy',
            // WhatsApp and encrypted chats are linked in a data folder: name the one that has it.
            dataDir: settingOf('CLAW_DATA') ?? dataDir,
            log: { info() {}, warn: console.warn },
            ownerConsole: null,
            clock: { now: Date.now, random: Math.random, pause },
          },
          openMemoryDatabases({ now: Date.now }),
        );
        const [channel] = opened;
        expect(channel, JSON.stringify(silentChannels)).toBeDefined();
        try {
          if (channel !== undefined) await roundTrip(channel, chat ?? '');
        } finally {
          await channel?.disconnect();
          rmSync(dataDir, { recursive: true, force: true });
        }
      },
    );
  }
});

async function roundTrip(channel: Channel, jid: string): Promise<void> {
  const read: string[] = [];
  const statuses: ChannelStatus[] = [];
  const events: ChannelEvents = {
    onMessage: async (message) => void (message.jid === jid && read.push(message.text)),
    onChat: async () => {},
    onStatus: (status) => void statuses.push(status),
  };
  expect(channel.ownsJid(jid), `${jid} is no chat of ${channel.name}`).toBe(true);
  await channel.connect(events);
  await expect.poll(() => statuses.at(-1)).toMatchObject({ state: 'connected' });
  const word = `claw-${randomUUID().slice(0, 8)}`;
  const asks = HAS_PERSON ? `Copy this word here: ${word}` : `A test of the assistant: ${word}`;
  // Resolves when the far end has taken it.
  await channel.send({ id: randomUUID(), jid, text: asks });
  if (HAS_PERSON) {
    await expect
      .poll(() => read.some((text) => text.includes(word)), { timeout: 300_000 })
      .toBe(true);
  }
}

describe('each provider', () => {
  for (const { name } of providers) {
    const model = settingOf(modelSetting(name));
    test.skipIf(model === undefined)(
      `${name} answers a call of a model (${modelSetting(name)})`,
      async () => {
        const environment = { ...ENVIRONMENT, MODEL: model };
        const settings = readSettings(environment, tmpdir());
        const { configured } = openModels(providers, environment, { settings });
        expect(configured, `no provider has the model ${model}`).not.toBeNull();
        if (configured === null) return;
        const question = { system: 'Answer with one word.', user: 'What is the opposite of cold?' };
        const asked = await completeText(configured, question, { timeoutMs: 120_000 });
        expect(asked).toMatchObject({ ok: true });
        expect(asked.ok && asked.text.toLowerCase()).toMatch(/hot|warm/);
      },
    );
  }
});

test('each channel and provider of this tree has its case, and none is named alike', () => {
  const names = [...channels, ...providers].map(({ name }) => name);
  expect(names.length).toBeGreaterThan(2);
  const used = [
    ...channels.map(({ name }) => chatSetting(name)),
    ...providers.map(({ name }) => modelSetting(name)),
  ];
  expect(new Set(used).size).toBe(used.length);
});
