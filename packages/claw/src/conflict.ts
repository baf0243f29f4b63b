import type { Hunk, TreeFile, Versions } from '@patchclaw/merge';

/** The name that the owner's side of a conflict goes by. */
export const OWNER = 'your edits';

/** The other side of a conflict over a place: no layer has a say in it. */
export const PLAN = 'plan';

export type ConflictKind = 'content' | 'add-add' | 'modify-delete' | 'binary' | 'structured';

/**
 * A disagreement that a plan carries. It is a value: nothing throws it.
 *
 * `path` of a structured conflict points into the file: `docker-compose.yml#services.redis.ports`.
 * `layers` names the two sides in canonical order (`core`, a skill, a customisation, `your edits`).
 */
export type Conflict = {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly layers: readonly [ours: string, theirs: string];
  /** The authors of ours, for each open hunk in order; where absent, `layers` names one for all. */
  readonly authors?: readonly string[] | undefined;
  /**
   * The authors of theirs, for each open hunk, where several layers are asked about at once. `layers` then
   * names all of them, separated by commas. Absent where two disagree.
   */
  readonly others?: readonly string[] | undefined;
  /** One sentence for the owner. */
  readonly reason: string;
  /** Text conflicts only; empty for the others. */
  readonly hunks: readonly Hunk[];
  /** The three files as they met; null for an absent side. */
  readonly sides: Versions<TreeFile | null>;
  /**
   * Structured conflicts only, null for the others: the plain value that each side wants at the key
   * (null where it wants none), and the one that both came from.
   */
  readonly values: Versions<unknown> | null;
  /** Paths to which a release may have moved the missing file, the likeliest first. */
  readonly candidates?: readonly string[];
};

/** Returns all parties of a conflict. */
export function partiesOf({
  layers,
  authors = [],
  others,
}: Pick<Conflict, 'layers' | 'authors' | 'others'>): readonly string[] {
  // A file that is gone has no places, and one question for all layers that change it.
  if (others === undefined) return [layers[0], ...layers[1].split(', ')];
  return [...new Set([...authors, ...others])];
}

/** Returns the file that a conflict is about: its path, without the key of a structured one. */
export function conflictFile({ path, values }: Pick<Conflict, 'path' | 'values'>): string {
  return values === null ? path : path.slice(0, path.indexOf('#'));
}
