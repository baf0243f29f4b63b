/** Money and tokens of a day, as `claw status --json` has them; null is without a limit. */
type Spent = {
  readonly microUsd: number;
  readonly tokens: number;
  /** Calls whose model has no known price. */
  readonly unpricedCalls: number;
  readonly limitMicroUsd: number | null;
  readonly limitTokens: number | null;
};

/** What the assistant that lives in this tree has spent today. */
export type AssistantData = {
  readonly budgets: {
    readonly day: string;
    readonly total: Spent;
    readonly groups: readonly (Spent & { readonly folder: string; readonly name: string })[];
    /** The same in one line, for people. */
    readonly summary: string;
  };
};

/** A chat for programs; `folder` is null for one that is not registered. */
export type ChatEntry = {
  readonly jid: string;
  readonly name: string | null;
  readonly folder: string | null;
  readonly isMain: boolean;
  /** Whether it is answered only when it calls; `trigger` is how, null for the assistant's name. */
  readonly needsTrigger: boolean;
  readonly trigger: string | null;
};

/** A task for programs; times are of ISO 8601. */
export type TaskEntry = {
  readonly id: number;
  readonly folder: string;
  readonly chat: string | null;
  readonly prompt: string;
  readonly kind: 'cron' | 'every' | 'at';
  readonly schedule: string;
  readonly timeZone: string;
  readonly state: string;
  readonly nextRun: string | null;
  readonly lastRun: { readonly at: string; readonly outcome: string | null } | null;
};
