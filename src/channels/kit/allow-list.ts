const EVERYBODY = '*';

/** Tells whether a person may write: their id is listed, or all people are. */
export function isAllowed(allowFrom: readonly string[], id: string | number): boolean {
  return allowFrom.includes(EVERYBODY) || allowFrom.includes(String(id));
}

/** Returns an entry that is neither an id nor `*`; undefined where the list can be used. */
export function oddEntry(
  allowFrom: readonly string[],
  isId: (entry: string) => boolean,
): string | undefined {
  return allowFrom.find((entry) => entry !== EVERYBODY && !isId(entry));
}
