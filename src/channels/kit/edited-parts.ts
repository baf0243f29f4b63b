/** A step towards the messages that the far end should show. */
export type PartStep<P> =
  | { readonly kind: 'send'; readonly at: number; readonly part: P }
  | { readonly kind: 'edit'; readonly at: number; readonly part: P; readonly farId: string }
  | { readonly kind: 'remove'; readonly at: number; readonly farId: string };

/**
 * Compares the parts of a message with those that the far end has: existing parts get their new text, missing ones
 * are sent, surplus ones removed. It can be repeated after a failure at any point, with the same result.
 *
 * @param known the far end's id of each part that is there, in order
 */
export function editedParts<P>(
  parts: readonly P[],
  known: readonly (string | undefined)[],
): readonly PartStep<P>[] {
  const kept = parts.map((part, at): PartStep<P> => {
    const farId = known[at];
    return farId === undefined ? { kind: 'send', at, part } : { kind: 'edit', at, part, farId };
  });
  const needless = known.flatMap((farId, at): readonly PartStep<P>[] =>
    farId === undefined || at < parts.length ? [] : [{ kind: 'remove', at, farId }],
  );
  return [...kept, ...needless];
}
