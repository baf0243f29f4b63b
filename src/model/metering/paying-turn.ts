import type { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import type { Candidates, SideWork } from '../candidates.ts';
import type { ModelFailure } from '../failure.ts';
import type { Model } from '../model.ts';
import type { Admission, TokenCounts } from '../tokens.ts';
import type { CutPrompt } from './cut-prompt.ts';

/** A call of the model that costs something: which model is asked, and the most that it may take. */
export type PaidCall = { readonly model: Model; readonly atMost: TokenCounts };

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
