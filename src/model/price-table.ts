/** The day of the prices below, as far as they were known then: lists change, and MODEL_PRICE rules. */
export const PRICES_OF = '2026-11-21';

/**
 * Dollars for a million tokens: read, written, written to the cache for five minutes, read from it.
 * `long` is what all tokens of a call cost instead whose prompt is longer than `over`.
 *
 * A name also stands for its dated versions (`-20250929`, `-2025-08-07`) and for `-latest`. Any other
 * model has no known price: MODEL_PRICE sets one.
 */
type Row = readonly [input: number, output: number, cacheWrite: number, cacheRead: number];
type Listed = {
  readonly price: Row;
  readonly long?: { readonly over: number; readonly price: Row };
};

/** OpenAI charges nothing for writing to its cache: those tokens are input like any other. */
const openAi = (input: number, output: number, cacheRead: number): Listed => ({
  price: [input, output, input, cacheRead],
});
const openAiLong = (input: number, output: number, cacheRead: number): Listed => ({
  ...openAi(input, output, cacheRead),
  long: { over: 272_000, price: [input * 2, output * 1.5, input * 2, cacheRead * 2] },
});
const anthropic = (...price: Row): Listed => ({ price });

export const PRICE_TABLE: Readonly<
  Record<'anthropic' | 'openai', Readonly<Record<string, Listed>>>
> = {
  anthropic: {
    'claude-fable-5-1': anthropic(10, 50, 12.5, 0.25),
    'claude-fable-5': anthropic(10, 50, 12.5, 1),
    'claude-opus-5-5': anthropic(4, 20, 5, 0.2),
    'claude-opus-5': anthropic(5, 25, 6.25, 0.5),
    'claude-opus-4-8': anthropic(5, 25, 6.25, 0.5),
    'claude-opus-4-7': anthropic(5, 25, 6.25, 0.5),
    'claude-opus-4-6': anthropic(5, 25, 6.25, 0.5),
    'claude-opus-4-5': anthropic(5, 25, 6.25, 0.5),
    'claude-opus-4-1': anthropic(15, 75, 18.75, 1.5),
    'claude-opus-4-0': anthropic(15, 75, 18.75, 1.5),
    'claude-opus-4': anthropic(15, 75, 18.75, 1.5),
    'claude-sonnet-5-5': anthropic(2, 10, 2.5, 0.1),
    'claude-sonnet-5': anthropic(2, 10, 2.5, 0.2),
    'claude-sonnet-4-6': anthropic(3, 15, 3.75, 0.3),
    'claude-sonnet-4-5': anthropic(3, 15, 3.75, 0.3),
    'claude-sonnet-4-0': anthropic(3, 15, 3.75, 0.3),
    'claude-sonnet-4': anthropic(3, 15, 3.75, 0.3),
    'claude-3-7-sonnet': anthropic(3, 15, 3.75, 0.3),
    'claude-3-5-sonnet': anthropic(3, 15, 3.75, 0.3),
    'claude-haiku-5-5': {
      price: [0.1, 0.5, 0.125, 0.01],
      long: { over: 100_000, price: [0.5, 2.5, 0.625, 0.05] },
    },
    'claude-haiku-4-5': anthropic(1, 5, 1.25, 0.1),
    'claude-3-5-haiku': anthropic(0.8, 4, 1, 0.08),
    'claude-3-haiku': anthropic(0.25, 1.25, 0.3, 0.03),
    'claude-3-opus': anthropic(15, 75, 18.75, 1.5),
  },
  openai: {
    'gpt-5.6-terra': openAiLong(2.5, 15, 0.25),
    'gpt-5.5': openAiLong(5, 30, 0.5),
    'gpt-5.4': openAiLong(2.5, 15, 0.25),
    'gpt-5.4-mini': openAi(0.75, 4.5, 0.075),
    'gpt-5.4-nano': openAi(0.2, 1.25, 0.02),
    'gpt-5.2': openAi(1.75, 14, 0.175),
    'gpt-5.1': openAi(1.25, 10, 0.125),
    'gpt-5': openAi(1.25, 10, 0.125),
    'gpt-5-mini': openAi(0.25, 2, 0.025),
    'gpt-5-nano': openAi(0.05, 0.4, 0.005),
    'gpt-4.1': openAi(2, 8, 0.5),
    'gpt-4.1-mini': openAi(0.4, 1.6, 0.1),
    'gpt-4.1-nano': openAi(0.1, 0.4, 0.025),
    'gpt-4o': openAi(2.5, 10, 1.25),
    'gpt-4o-mini': openAi(0.15, 0.6, 0.075),
    'gpt-4-turbo': openAi(10, 30, 10),
    'gpt-3.5-turbo': openAi(0.5, 1.5, 0.5),
    o1: openAi(15, 60, 7.5),
    o3: openAi(2, 8, 0.5),
    'o3-mini': openAi(1.1, 4.4, 0.55),
    'o4-mini': openAi(1.1, 4.4, 0.275),
  },
};
