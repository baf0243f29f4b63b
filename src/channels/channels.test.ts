import { expect, test } from 'vitest';
import { ContributionFolder } from '../testing/contributions.ts';
import { discoverChannels, openChannels } from './channels.ts';

// It says in its own name what it was given.
const PIGEON = `
  import { z } from 'zod';
  import { defineChannel } from 'src/channels/channel.ts';
  export const channel = defineChannel({
    name: 'pigeon',
    settings: z.object({ PIGEON_LOFT: z.string().optional() }),
    needs: ['PIGEON_LOFT'],
    create({ settings, ...context }) {
      if (settings.PIGEON_LOFT === undefined) return null;
      const { clock } = context;
      const keys = [context, clock].map((part) => Object.keys(part).sort());
      return { name: JSON.stringify({ settings, keys, at: clock.now() + clock.random() }) };
    },
  });`;

const CONTEXT = {
  assistantName: 'Andy',
  dataDir: '/nowhere',
  log: { info() {}, warn() {} },
  ownerConsole: null,
  clock: { now: () => 7, random: () => 0.5, pause: async () => {} },
};

test('a channel gets its own settings, and of the assistant what its context names', async () => {
  using folder = new ContributionFolder({ 'pigeon.ts': PIGEON });
  const definitions = await discoverChannels(folder.dir);
  const environment = { PIGEON_LOFT: 'roof', ANTHROPIC_API_KEY: 'not-yours' };
  const more = { ...CONTEXT, store: 'not-yours' };
  const { channels } = openChannels(definitions, environment, more);
  expect(JSON.parse(channels[0]?.name ?? '')).toEqual({
    settings: { PIGEON_LOFT: 'roof' },
    keys: [
      ['assistantName', 'clock', 'commands', 'dataDir', 'log', 'openDatabase', 'ownerConsole'],
      ['now', 'pause', 'random'],
    ],
    at: 7.5,
  });
  expect(openChannels(definitions, {}, CONTEXT)).toEqual({
    channels: [],
    silentChannels: [{ name: 'pigeon', needs: ['PIGEON_LOFT'], wrong: [] }],
  });
});
