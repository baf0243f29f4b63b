import {
  type LineWeights,
  likeness,
  lineWeights,
  type Tree,
  type TreeFile,
} from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import { digestBytes } from '../digest.ts';

/** The share of a file that another must contain to be named, as in git. */
const ALIKE = 0.5;
/** The share from which one of the same name may be the missing file as well. */
export const RELATED = 0.2;
const NAMED = 3;

export type Cores = {
  /** Paths of the old core. */
  readonly before: ReadonlySet<string>;
  readonly after: Tree;
  /** Places that files came to by a declared move. */
  readonly taken: ReadonlySet<string>;
};

/** A file of the release that may be one that moved, and how much of that is in it, 0 to 1. */
export type Alike = { readonly path: string; readonly share: number };

/**
 * Adds candidates to conflicts over files that the release no longer has: the added files that are most like
 * them.
 */
export function nameCandidates(conflicts: readonly Conflict[], cores: Cores): readonly Conflict[] {
  const isGone = goneFrom(cores);
  if (!conflicts.some(isGone)) return conflicts;
  const added = weighAdded(cores);
  return conflicts.map((conflict) => {
    if (!isGone(conflict)) return conflict;
    const { base, ours, theirs } = conflict.sides;
    const found = mostAlike(conflict.path, base ?? ours ?? theirs, added).slice(0, NAMED);
    if (found.length === 0) return conflict;
    const candidates = found.map(({ path }) => path);
    return { ...conflict, candidates, reason: `${conflict.reason} ${advice(found)}` };
  });
}

export function goneFrom({ before, after }: Cores): (conflict: Conflict) => boolean {
  return ({ kind, path }) => kind === 'modify-delete' && before.has(path) && !after.has(path);
}

export type Weighed = { readonly path: string; readonly lines: LineWeights };

/** Weighs the files that the release brings and that did not come there by a declared move. */
export function weighAdded({ before, after, taken }: Cores): readonly Weighed[] {
  return [...after].flatMap(([path, { bytes }]) => {
    const isOld = before.has(path) || taken.has(path);
    return isOld ? [] : [{ path, lines: weightsOf(bytes) }];
  });
}

/** Weighs the lines of a file; one that is no text is as a single line. */
export function weightsOf(bytes: Buffer): LineWeights {
  const whole = new Map([[digestBytes(bytes), bytes.length]]);
  return lineWeights(bytes) ?? { weights: whole, total: bytes.length };
}

/** Returns the added files that may be one that is gone, by what they have in common with it, the likeliest first. */
export function mostAlike(
  gone: string,
  file: TreeFile | null,
  added: readonly Weighed[],
): readonly Alike[] {
  if (file === null) return [];
  const lines = weightsOf(file.bytes);
  return added
    .flatMap(({ path, lines: other }): readonly Alike[] => {
      const least = stemOf(path) === stemOf(gone) ? RELATED : ALIKE;
      const share = likeness(lines, other, least);
      return share < least ? [] : [{ path, share }];
    })
    .sort(
      (one, other) =>
        other.share - one.share ||
        Number(nameOf(other.path) === nameOf(gone)) - Number(nameOf(one.path) === nameOf(gone)),
    );
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the name of a file without its endings. */
export function stemOf(path: string): string {
  return /^\.?[^.]*/.exec(nameOf(path))?.[0] ?? '';
}

function advice(found: readonly Alike[]): string {
  const named = found.map(({ path, share }) => `${path} (${Math.round(share * 100)} % alike)`);
  return `The release may have moved it to ${named.join(' or ')}.`;
}
