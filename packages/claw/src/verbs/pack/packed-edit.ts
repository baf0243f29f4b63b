import { likeness, lineWeights, type TreeFile } from '@patchclaw/merge';

/** A file that is other than before; null where none was, or is. */
export type PackedEdit = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/** The share of a file that has to stay for its new name to count as a move, as in git. */
const SIMILAR = 0.5;

/** Pairs deleted and new files with mostly the same content: new path → old path. */
export function findRenames(edits: readonly PackedEdit[]): ReadonlyMap<string, string> {
  const gone = edits.filter(({ after }) => after === null);
  const come = edits.filter(({ before }) => before === null);
  const candidates = come.flatMap((one) =>
    gone.map((other) => ({
      to: one.path,
      from: other.path,
      share: likenessOf(other.before, one.after),
    })),
  );
  const renames = new Map<string, string>();
  const taken = new Set<string>();
  for (const { to, from, share } of candidates.sort((a, b) => b.share - a.share)) {
    if (share < SIMILAR || renames.has(to) || taken.has(from)) continue;
    renames.set(to, from);
    taken.add(from);
  }
  return renames;
}

function likenessOf(old: TreeFile | null, now: TreeFile | null): number {
  if (old === null || now === null) return 0;
  if (old.bytes.equals(now.bytes)) return 1;
  const [before, after] = [lineWeights(old.bytes), lineWeights(now.bytes)];
  return before && after ? likeness(before, after) : 0;
}
