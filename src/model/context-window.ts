/** Context sizes in tokens by the beginning of a model's name; the first that fits counts. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^gpt-4-turbo/, 128_000],
  [/^gpt-4/, 8_192],
  [/^gpt-6/, 1_050_000],
  [/^gpt-5/, 400_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
  [/^deepseek-/, 128_000],
  [/^mistral-large|^mistral-medium|^mistral-small/, 128_000],
  [/^(meta-)?llama-?3\.[1-3]/, 128_000],
];
const DEFAULT_WINDOW = 200_000;

/**
 * Returns how many tokens a model takes as far as its name tells, else 200,000. Many servers offer the
 * same models, so this belongs to no provider. A wrong guess costs a refused call before the
 * conversation is summarised.
 */
export function knownWindowOf(model: string): number {
  // Some servers put who made it before the name: `meta-llama/llama-3.1-8b`.
  const name = model.toLowerCase().replace(/^.*\//, '');
  return WINDOWS.find(([begins]) => begins.test(name))?.[1] ?? DEFAULT_WINDOW;
}
