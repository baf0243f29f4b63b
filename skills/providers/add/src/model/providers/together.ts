import { z } from 'zod';
import { createListReader } from '../catalog/listed-model.ts';
import { defineCompatible } from './compatible/compatible.ts';
import { priceInEntry } from './compatible/listed-price.ts';

const Kind = z.looseObject({ type: z.string().optional() });

export const provider = defineCompatible({
  name: 'together',
  order: 350,
  label: 'Together AI',
  settings: 'TOGETHER',
  address: 'https://api.together.xyz/v1',
  keyMadeIn: 'api.together.ai, under API keys',
  table: 'together.yaml',
  listsPrices: true,
  modelsIn: createListReader({
    priceOf: (entry) => priceInEntry(entry, 'million'),
    nameOf: (entry) => ((Kind.safeParse(entry).data?.type ?? 'chat') === 'chat' ? entry.id : null),
  }),
  abilitiesOf: (model) => ({ vision: /vl|vision|llama-4|gemma-3/i.test(model) }),
});
