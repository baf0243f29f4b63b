import { defineCompatible } from './compatible/compatible.ts';

const ADDRESS = 'http://localhost:11434/v1';

export const provider = defineCompatible({
  name: 'ollama',
  order: 370,
  label: 'models of your own, by Ollama',
  settings: 'OLLAMA',
  address: ADDRESS,
  proposedAddress: ADDRESS,
  keyMadeIn: 'nothing: Ollama needs none, so leave it empty',
  isKeyNeeded: false,
  isLocal: true,
  isFree: (model) => !/[:-]cloud$/.test(model),
  // It cuts what is longer than its own setting, without a word.
  usualContext: 32_768,
  abilitiesOf: (model) => ({
    vision: /llava|vision|vl|gemma3|minicpm-v|llama4|moondream|mistral-small3/.test(model),
  }),
});
