import { z } from 'zod';
import { Count, type TokenCounts } from '../../tokens.ts';

const Usage = z.object({
  prompt_tokens: Count.nullish(),
  completion_tokens: Count.nullish(),
  total_tokens: Count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: Count.nullish() }).nullish(),
  prompt_cache_hit_tokens: Count.nullish(),
});
const Carrier = z.object({
  usage: Usage.nullish(),
  x_groq: z.object({ usage: Usage.nullish() }).nullish(),
});

/**
 * Returns the token counts as these servers tell them: Groq in a field of its own, DeepSeek with its own name for
 * what came from the cache. xAI and Gemini leave the tokens of thinking out of those written, and in the sum.
 */
export function countsIn(event: unknown): TokenCounts | null {
  const { data } = Carrier.safeParse(event);
  const usage = data?.usage ?? data?.x_groq?.usage;
  if (!usage) return null;
  const read = usage.prompt_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  return {
    inputTokens: Math.max(0, read - cached),
    cacheWriteTokens: 0,
    cacheReadTokens: Math.min(read, cached),
    outputTokens: Math.max(usage.completion_tokens ?? 0, (usage.total_tokens ?? 0) - read),
  };
}
