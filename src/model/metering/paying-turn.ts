import type { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import type { Candidates, SideWork } from '../candidates.ts';
import type { ModelFailure } from '../failure.ts';
import type { Model } from '../model.ts';
import { AT_MOST, promptTokens, type TokenEstimate } from '../request-check.ts';
import type { Admission, TokenCounts } from '../tokens.ts';

/** A call of the model that costs something: which model is asked, and the most that it may take. */
export type PaidCall = { readonly model: Model; readonly atMost: TokenCounts };

/** The tokens of a prompt as it was sent, about, and as its server counted them. */
export type CutPrompt = { readonly sentTokens: number; readonly countedTokens: number };

/** The turn on whose behalf an agent calls its model. */
export type PayingTurn = {
  /** The models that may answer, best first. */
  readonly models: Candidates;
  /** Those for work of the turn that has models of its own; `models` for any other. */
  readonly sideModels?: Readonly<Partial<Record<SideWork, Candidates>>> | undefined;
  /** The watchdog of the agent: bytes from its model count as a sign of life. */
  readonly silence: Pick<ActivityWatchdog, 'heard' | 'during'>;
  /** Aborted when the turn is over; calls still under way end with it. */
  readonly signal: AbortSignal;
  /** Asked before a call that costs something goes to a model's server. */
  readonly admit: (call: PaidCall, signal: AbortSignal) => Promise<Admission>;
  /** Called for every call: with why it failed at last, or null when this model began to answer. */
  readonly onModel: (failure: ModelFailure | null, model: Model) => void;
  /** Called for a model that gave no answer, where the next one is asked. */
  readonly onPassedOver?: (model: Model, failure: ModelFailure) => void;
  /** Called for a model whose server answered a part of the prompt only, by its own count. */
  readonly onPromptCut?: (model: Model, cut: CutPrompt) => void;
};

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
