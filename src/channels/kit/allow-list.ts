const EVERYBODY = '*';

/** Tells whether a person may write: the list has their id, or lets everybody in. */
export function isAllowed(allowFrom: readonly string[], id: string | number): boolean {
  return allowFrom.includes(EVERYBODY) || allowFrom.includes(String(id));
}

/** The setting with a channel's list of who may write, and the words for it. */
export type AllowListSetting = {
  /** Its name: `PIGEON_ALLOW_FROM`. */
  readonly name: string;
  /** The action that nobody may do while the list is empty: `write to the bot`. */
  readonly purpose: string;
  /** An example of an entry: `<your user id>`. */
  readonly example: string;
  /** A sentence that says where the owner finds it. */
  readonly hint?: string;
  /** The entries that can be used; any where there are no rules for them. */
  readonly entries?: {
    readonly isValid: (entry: string) => boolean;
    /** The reason against a wrong entry: `not a user id`. */
    readonly otherwise: string;
    /** The right form of an entry: `numbers`. */
    readonly form: string;
  };
};

/**
 * Makes the rule for a channel's list, checked before it connects: an empty list lets nobody in, and no entry may be
 * one that never matches. The rule returns why a list cannot be used, with what to write into `.env`; null if it can.
 */
export function allowListRule(
  setting: AllowListSetting,
): (allowFrom: readonly string[]) => string | null {
  const { name, purpose, example, hint, entries } = setting;
  return (allowFrom) => {
    if (allowFrom.length === 0) {
      const what = `Nobody is allowed to ${purpose} yet. Add ${name}=${example} to .env and restart.`;
      return hint === undefined ? what : `${what} ${hint}`;
    }
    if (entries === undefined) return null;
    const odd = allowFrom.find((entry) => entry !== EVERYBODY && !entries.isValid(entry));
    return odd === undefined
      ? null
      : `${name} in .env holds "${odd}", which is ${entries.otherwise}. Write ${entries.form} with commas ` +
          'between them, or * for everybody, and restart.';
  };
}
