import { z } from 'zod';
import { defineProvider } from '../provider.ts';
import { chatCompletions } from './chat-completions-protocol.ts';

const DOLLAR = 1_000_000;

export const provider = defineProvider({
  name: 'acme',
  order: 300,
  prefixes: ['acme/'],
  protocol: chatCompletions,
  settings: z.object({
    ACME_KEY: z.string().optional(),
    ACME_URL: z.url('must be an address').default('https://models.acme.example/v1'),
  }),
  setup: {
    label: 'a model of Acme',
    keySetting: 'ACME_KEY',
    keyMadeIn: 'the shop of Acme',
    isKeyNeeded: true,
    addressSetting: 'ACME_URL',
    proposedAddress: null,
  },
  prices: {
    asOf: '2026-11-22',
    of: () => ({ input: DOLLAR, output: 4 * DOLLAR, cacheWrite: DOLLAR, cacheRead: DOLLAR / 10 }),
  },
  contextTokensOf: () => 64_000,
  abilitiesOf: (model) => ({ vision: model.startsWith('eye-') }),
  create: ({ settings: { ACME_KEY: key, ACME_URL: baseUrl } }) => ({
    baseUrl,
    headers: () => ({ authorization: `Bearer ${key}` }),
    secrets: () => (key === undefined ? [] : [key]),
    problem: () => (key === undefined ? 'Acme has no key yet. Set ACME_KEY in .env.' : null),
  }),
});
