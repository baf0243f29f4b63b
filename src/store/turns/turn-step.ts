/** Tokens of a step or a whole turn, in the kinds that have prices. */
export type StepTokens = {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
};

/** A step of a turn: a call of the model, or of a tool. */
export type TurnStep = StepTokens & {
  readonly kind: 'model' | 'host_tool' | 'own_tool';
  /** The model's or the tool's. */
  readonly name: string;
  /** Milliseconds since the beginning of the turn. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** Why it failed; null where it did not. */
  readonly error: string | null;
  /** Millionths of a dollar; null without a known price. */
  readonly microUsd: number | null;
};

/** Facts of a run beside its steps. */
export type RunFacts = {
  readonly turnId: string;
  /** The first model that answered; null where none did. */
  readonly model: string | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly state: string;
  readonly error: string | null;
  /** The number of steps that are not kept. */
  readonly leftOut: number;
};

export type NewTurnRun = RunFacts & { readonly steps: readonly TurnStep[] };
