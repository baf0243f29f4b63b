import type { Conflict } from '../conflict.ts';
import { type LineWeights, likeness, lineWeights } from '../merge/lines/likeness.ts';
import type { Tree } from '../tree.ts';

/** The share of a file that another must contain to be named, as in git. */
const ALIKE = 0.5;
const NAMED = 3;

type Cores = {
  /** Paths of the old core. */
  readonly before: ReadonlySet<string>;
  readonly after: Tree;
  /** Places that files came to by a declared move. */
  readonly taken: ReadonlySet<string>;
};

/**
 * Adds candidates to conflicts over files that the release no longer has: the added files that are most like
 * them.
 */
export function nameCandidates(conflicts: readonly Conflict[], cores: Cores): readonly Conflict[] {
  const isGone = ({ kind, path }: Conflict) =>
    kind === 'modify-delete' && cores.before.has(path) && !cores.after.has(path);
  if (!conflicts.some(isGone)) return conflicts;
  const added = weighAdded(cores);
  return conflicts.map((conflict) => {
    const found = isGone(conflict) ? mostAlike(conflict, added) : [];
    if (found.length === 0) return conflict;
    const candidates = found.map(({ path }) => path);
    return { ...conflict, candidates, reason: `${conflict.reason} ${advice(found)}` };
  });
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
