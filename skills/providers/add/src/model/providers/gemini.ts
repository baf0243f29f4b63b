import { createListReader } from '../catalog/listed-model.ts';
import { defineCompatible } from './compatible/compatible.ts';

export const provider = defineCompatible({
  name: 'gemini',
  order: 310,
  label: 'Gemini, by a Google key',
  settings: 'GOOGLE_GEMINI',
  address: 'https://generativelanguage.googleapis.com/v1beta/openai',
  keyMadeIn: 'Google AI Studio, under API keys',
  table: 'gemini.yaml',
  dialect: {
    without: ['user', 'logit_bias', 'logprobs', 'top_logprobs'],
    withoutInSchemas: [
      '$schema',
      '$id',
      'additionalProperties',
      'exclusiveMaximum',
      'exclusiveMinimum',
      'patternProperties',
      'propertyNames',
    ],
  },
  // Its list has `models/gemini-…`; it is asked by the plain name.
  modelsIn: createListReader({ nameOf: ({ id }) => id.replace(/^models\//, '') }),
});
