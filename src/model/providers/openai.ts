import { z } from 'zod';
import { Address } from '../../lib/setting-values.ts';
import { priceList } from '../metering/price-list.ts';
import { defineProvider } from '../provider.ts';
import { chatCompletions } from './chat-completions-protocol.ts';

const OWN_ADDRESS = 'https://api.openai.com/v1';

export const provider = defineProvider({
  name: 'openai',
  order: 200,
  prefixes: ['openai/'],
  protocol: chatCompletions,
  settings: z.object({
    OPENAI_API_KEY: z.string().optional(),
    OPENAI_BASE_URL: Address.default(OWN_ADDRESS),
  }),
  setup: {
    label: 'any server that speaks the OpenAI protocol',
    keySetting: 'OPENAI_API_KEY',
    keyMadeIn: 'the web console of its provider',
    isKeyNeeded: false,
    addressSetting: 'OPENAI_BASE_URL',
    proposedAddress: OWN_ADDRESS,
  },
  prices: priceList(`${import.meta.dirname}/openai-prices.yaml`),
  create({ settings: { OPENAI_BASE_URL: baseUrl }, read }) {
    const key = () => read('OPENAI_API_KEY');
    return {
      baseUrl,
      headers(): Record<string, string> {
        const now = key();
        return now === undefined ? {} : { authorization: `Bearer ${now}` };
      },
      secrets: () => [key()].filter((each) => each !== undefined),
      isSetUp: () => key() !== undefined || baseUrl !== OWN_ADDRESS,
      // A server of the owner's own may need none.
      problem: () => null,
    };
  },
});
