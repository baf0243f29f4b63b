import { defineCompatible } from './compatible/compatible.ts';

export const provider = defineCompatible({
  name: 'xai',
  order: 360,
  label: 'Grok, by an xAI key',
  settings: 'XAI',
  address: 'https://api.x.ai/v1',
  keyMadeIn: 'console.x.ai, under API Keys',
  table: 'xai.yaml',
  // Its thinking models refuse these.
  dialect: { without: ['stop', 'presence_penalty', 'frequency_penalty', 'logit_bias'] },
  abilitiesOf: (model) => ({ vision: /grok-4|vision/.test(model) }),
});
