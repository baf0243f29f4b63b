/** A step that brings the messages of a far end to what they should be. */
export type PartStep<P> =
  | { readonly kind: 'send'; readonly at: number; readonly part: P }
  | { readonly kind: 'edit'; readonly at: number; readonly part: P; readonly farId: string }
  | { readonly kind: 'remove'; readonly at: number; readonly farId: string };

/**
 * Compares the parts of a message with those that the far end has of it: what is there gets its new text, what is
 * missing is sent, what is needless is taken away. Repeated after a failure anywhere, it ends in the same.
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
