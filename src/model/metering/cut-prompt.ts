import { AT_MOST, promptTokens, type TokenEstimate } from '../request-check.ts';
import type { TokenCounts } from '../tokens.ts';

/** The tokens of a prompt as it was sent, about, and as its server counted them. */
export type CutPrompt = { readonly sentTokens: number; readonly countedTokens: number };

/** No server has a smaller window; a lower count is a wrong one, or leaves out what the server has in its cache. */
const SMALLEST_COUNT = 1_000;
/** The estimate has three characters a token; no text of people or programs has more than seven. */
const FEWEST_PART = 1 / 2.5;

const AT_LEAST: TokenEstimate = {
  // A row of the same character, such as an indent or a line of dashes, can be one token.
  text: (text) => AT_MOST.text(text.replace(/(.)\1{3,}/gsu, '$1')),
  // Servers differ too much in how they count pictures.
  file: () => 0,
};

/**
 * Finds out whether a server left out most of a prompt and answered the rest, as Ollama does where its window is
 * smaller than the conversation. Returns null where the count can be right.
 *
 * @param request as it was sent
 */
export function cutPromptIn(
  request: unknown,
  { inputTokens, cacheReadTokens, cacheWriteTokens }: TokenCounts,
): CutPrompt | null {
  const countedTokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  if (countedTokens < SMALLEST_COUNT) return null;
  const sentTokens = promptTokens(request, AT_LEAST);
  return countedTokens < sentTokens * FEWEST_PART ? { sentTokens, countedTokens } : null;
}
