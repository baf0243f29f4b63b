/** The beginning of each provider's settings. */
export const SETTINGS: Readonly<Record<string, string>> = {
  openrouter: 'OPENROUTER',
  gemini: 'GOOGLE_GEMINI',
  groq: 'GROQ',
  deepseek: 'DEEPSEEK',
  mistral: 'MISTRAL',
  together: 'TOGETHER',
  xai: 'XAI',
  ollama: 'OLLAMA',
  local: 'LOCAL',
};
