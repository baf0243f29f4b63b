import { z } from 'zod';
import { Address } from '../../lib/setting-values.ts';
import { priceList } from '../metering/price-list.ts';
import { defineProvider } from '../provider.ts';
import { messages } from './messages-protocol.ts';

export const provider = defineProvider({
  name: 'anthropic',
  order: 100,
  prefixes: ['anthropic/'],
  protocol: messages,
  defaultModel: 'claude-sonnet-5-5',
  settings: z.object({
    ANTHROPIC_API_KEY: z.string().optional(),
    ANTHROPIC_BASE_URL: Address.default('https://api.anthropic.com'),
  }),
  setup: {
    label: 'Claude (Anthropic)',
    keySetting: 'ANTHROPIC_API_KEY',
    keyMadeIn: 'console.anthropic.com, API keys',
    isKeyNeeded: true,
    addressSetting: 'ANTHROPIC_BASE_URL',
    proposedAddress: null,
  },
  prices: priceList(`${import.meta.dirname}/anthropic-prices.yaml`),
  create({ settings: { ANTHROPIC_BASE_URL: baseUrl }, read }) {
    const key = () => read('ANTHROPIC_API_KEY');
    return {
      baseUrl,
      headers(): Record<string, string> {
        const now = key();
        return now === undefined ? {} : { 'x-api-key': now };
      },
      secrets: () => [key()].filter((each) => each !== undefined),
      problem: () =>
        key() === undefined
          ? 'There is no key for the model yet. Add one with `npx claw setup`.'
          : null,
    };
  },
});
