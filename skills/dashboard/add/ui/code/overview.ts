/** A skill that is in the code, or could be. */
export type Skill = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly applied: boolean;
  /** A version that is newer than the one in the code. */
  readonly newer: string | null;
};
/** What the panel shows first. */
export type Overview = {
  readonly skills: readonly Skill[];
  readonly status: {
    readonly core: { readonly version: string | null } | null;
    readonly release?: { readonly version: string | null };
    readonly edits: readonly { readonly path: string; readonly kind: string }[];
    readonly pending: { readonly verb: string; readonly arguments: readonly string[] } | null;
  } | null;
  /** Commands that can be taken back, the newest first. */
  readonly log: readonly { readonly time: string; readonly summary: string }[];
};
