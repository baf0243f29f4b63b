/** Money and tokens of a day, as `claw status --json` has them; null is without a limit. */
type Spent = {
  readonly microUsd: number;
  readonly tokens: number;
  /** Calls whose model has no known price. */
  readonly unpricedCalls: number;
  readonly limitMicroUsd: number | null;
  readonly limitTokens: number | null;
};

/** Amounts that the assistant of this tree has spent today. */
export type AssistantData = {
  readonly budgets: {
    readonly day: string;
    readonly total: Spent;
    readonly groups: readonly (Spent & { readonly folder: string; readonly name: string })[];
    /** The same in one line, for people. */
    readonly summary: string;
  };
};
