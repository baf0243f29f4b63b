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
    label: 'another server with an OpenAI-compatible API',
    keySetting: 'OPENAI_API_KEY',
    keyMadeIn: 'its provider',
    isKeyNeeded: false,
    addressSetting: 'OPENAI_BASE_URL',
    proposedAddress: '',
    services: [
      {
        name: 'openai',
        label: 'OpenAI',
        address: OWN_ADDRESS,
        keyMadeIn: 'platform.openai.com, API keys',
      },
      {
        name: 'openrouter',
        label: 'OpenRouter',
        address: 'https://openrouter.ai/api/v1',
        keyMadeIn: 'openrouter.ai, Keys',
      },
      {
        name: 'ollama',
        label: 'Ollama on this computer',
        address: 'http://127.0.0.1:11434/v1',
        keyMadeIn: null,
      },
      {
        name: 'lm-studio',
        label: 'LM Studio on this computer',
        address: 'http://127.0.0.1:1234/v1',
        keyMadeIn: null,
      },
    ],
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
