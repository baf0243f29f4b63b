import type { Conflict } from '../conflict.ts';
import { type LineWeights, likeness, lineWeights } from '../merge/lines/likeness.ts';
import type { Tree, TreeFile } from '../tree.ts';

/** The share of a file that another must contain to be named, as in git. */
const ALIKE = 0.5;
/** The share above which the only such file is taken for the moved one. */
const SAME = 0.6;
const NAMED = 3;

type Cores = {
  /** Paths of the old core. */
  readonly before: ReadonlySet<string>;
  readonly after: Tree;
  /** Places that files came to by a declared move. */
  readonly taken: ReadonlySet<string>;
};

/** A file that the release moved without saying so, and how much of it is there, 0 to 1. */
export type FoundMove = { readonly from: string; readonly to: string; readonly share: number };

/**
 * Adds candidates to conflicts over files that the release no longer has: the added files that are most like
 * them.
 */
export function nameCandidates(conflicts: readonly Conflict[], cores: Cores): readonly Conflict[] {
  const isGone = goneFrom(cores);
  if (!conflicts.some(isGone)) return conflicts;
  const added = weighAdded(cores);
  return conflicts.map((conflict) => {
    const found = isGone(conflict) ? mostAlike(conflict, added) : [];
    if (found.length === 0) return conflict;
    const candidates = found.map(({ path }) => path);
    return { ...conflict, candidates, reason: `${conflict.reason} ${advice(found)}` };
  });
}

/**
 * Finds the moves behind such conflicts: one added file alone is like the missing one, and like no other that
 * the release no longer has.
 *
 * @param oldFile a file of the old core as it was published
 */
export function findMoves(
  conflicts: readonly Conflict[],
  cores: Cores,
  oldFile: (path: string) => TreeFile | null,
): readonly FoundMove[] {
  const gone = conflicts.filter(goneFrom(cores));
  if (gone.length === 0) return [];
  const added = weighAdded(cores);
  const found = gone.flatMap((conflict): readonly FoundMove[] => {
    const [one, ...more] = mostAlike(conflict, added).filter(({ share }) => share > SAME);
    const isOnly = one !== undefined && more.length === 0;
    return isOnly ? [{ from: conflict.path, to: one.path, share: one.share }] : [];
  });
  if (found.length === 0) return [];
  const others = [...cores.before].filter((path) => !cores.after.has(path));
  const weights = new Map(
    others.map((path) => {
      const file = oldFile(path);
      return [path, file && lineWeights(file.bytes)] as const;
    }),
  );
  return found.filter(({ from, to }) => {
    const lines = added.find(({ path }) => path === to)?.lines;
    return others.every((path) => {
      const other = weights.get(path);
      return path === from || !other || !lines || likeness(other, lines) <= SAME;
    });
  });
}

function goneFrom({ before, after }: Cores): (conflict: Conflict) => boolean {
  return ({ kind, path }) => kind === 'modify-delete' && before.has(path) && !after.has(path);
}

type Weighed = { readonly path: string; readonly lines: LineWeights };

function weighAdded({ before, after, taken }: Cores): readonly Weighed[] {
  return [...after].flatMap(([path, { bytes }]) => {
    const lines = before.has(path) || taken.has(path) ? null : lineWeights(bytes);
    return lines === null ? [] : [{ path, lines }];
  });
}

type Alike = { readonly path: string; readonly share: number };

function mostAlike({ path: gone, sides }: Conflict, added: readonly Weighed[]): readonly Alike[] {
  const known = sides.base ?? sides.ours ?? sides.theirs;
  const lines = known && lineWeights(known.bytes);
  if (!lines) return [];
  const isNamesake = (path: string) => path.split('/').at(-1) === gone.split('/').at(-1);
  return added
    .map(({ path, lines: other }) => ({ path, share: likeness(lines, other) }))
    .filter(({ share }) => share >= ALIKE)
    .sort(
      (one, other) =>
        other.share - one.share || Number(isNamesake(other.path)) - Number(isNamesake(one.path)),
    )
    .slice(0, NAMED);
}

function advice(found: readonly Alike[]): string {
  const named = found.map(({ path, share }) => `${path} (${Math.round(share * 100)} % alike)`);
  return `The release may have moved it to ${named.join(' or ')}.`;
}
