import { createListReader } from '../catalog/listed-model.ts';
import { defineCompatible } from './compatible/compatible.ts';
import { priceInEntry } from './compatible/listed-price.ts';

export const provider = defineCompatible({
  name: 'openrouter',
  order: 300,
  label: 'OpenRouter',
  settings: 'OPENROUTER',
  address: 'https://openrouter.ai/api/v1',
  keyMadeIn: 'openrouter.ai, under Keys',
  listsPrices: true,
  dialect: { takesReasoning: true },
  modelsIn: createListReader({ priceOf: (entry) => priceInEntry(entry, 'token') }),
  abilitiesOf: (model) => ({
    vision:
      /claude|gpt-4o|gpt-4\.1|gpt-5|gemini|gemma-3|vl|vision|pixtral|llama-4|grok-4|\/o[134]/.test(
        model,
      ),
  }),
});
