import { z } from 'zod';
import { createListReader } from '../catalog/listed-model.ts';
import { defineCompatible } from './compatible/compatible.ts';

const Talks = z.looseObject({
  capabilities: z.object({ completion_chat: z.boolean() }).optional(),
});

export const provider = defineCompatible({
  name: 'mistral',
  order: 340,
  label: 'Mistral',
  settings: 'MISTRAL',
  address: 'https://api.mistral.ai/v1',
  keyMadeIn: 'console.mistral.ai, under API keys',
  table: 'mistral.yaml',
  // It tells token counts without being asked, and refuses every name that it does not know.
  dialect: {
    without: [
      'stream_options',
      'user',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'reasoning_effort',
      'verbosity',
    ],
    shortCallIds: true,
    anyTool: 'any',
    maxTokens: 'max_tokens',
  },
  modelsIn: createListReader({
    nameOf: (entry) =>
      Talks.safeParse(entry).data?.capabilities?.completion_chat === false ? null : entry.id,
  }),
  abilitiesOf: (model) => ({
    vision: /pixtral|mistral-(large|medium|small)|ministral-3|magistral/.test(model),
  }),
});
