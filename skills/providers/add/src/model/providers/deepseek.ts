import { defineCompatible } from './compatible/compatible.ts';

export const provider = defineCompatible({
  name: 'deepseek',
  order: 330,
  label: 'DeepSeek',
  settings: 'DEEPSEEK',
  address: 'https://api.deepseek.com/v1',
  keyMadeIn: 'platform.deepseek.com, under API keys',
  table: 'deepseek.yaml',
  // Between the calls of one answer its models want back what they have thought.
  dialect: { takesReasoning: true, maxTokens: 'max_tokens' },
  abilitiesOf: () => ({ vision: false }),
});
