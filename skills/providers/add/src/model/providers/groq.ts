import { defineCompatible } from './compatible/compatible.ts';

export const provider = defineCompatible({
  name: 'groq',
  order: 320,
  label: 'Groq',
  settings: 'GROQ',
  address: 'https://api.groq.com/openai/v1',
  keyMadeIn: 'console.groq.com, under API Keys',
  table: 'groq.yaml',
  dialect: { without: ['logit_bias', 'logprobs', 'top_logprobs'] },
  abilitiesOf: (model) => ({ vision: /llama-4|vision/.test(model) }),
});
