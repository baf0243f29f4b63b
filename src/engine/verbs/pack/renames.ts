import { diffLines } from '../../merge/diff.ts';
import { internLines } from '../../merge/intern.ts';
import { splitLines } from '../../merge/lines.ts';
import type { TreeFile } from '../../tree.ts';

/** A file that is other than before; null where none was, or is. */
export type PackedEdit = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/** How much of a file has to stay for its new name to count as a move, as git has it. */
const SIMILAR = 0.5;

/** Pairs files that went with files that came and hold mostly the same: new path → old path. */
export function findRenames(edits: readonly PackedEdit[]): ReadonlyMap<string, string> {
  const gone = edits.filter(({ after }) => after === null);
  const come = edits.filter(({ before }) => before === null);
  const candidates = come.flatMap((one) =>
    gone.map((other) => ({
      to: one.path,
      from: other.path,
      likeness: likenessOf(other.before, one.after),
    })),
  );
  const renames = new Map<string, string>();
  const taken = new Set<string>();
  for (const { to, from, likeness } of candidates.sort((a, b) => b.likeness - a.likeness)) {
    if (likeness < SIMILAR || renames.has(to) || taken.has(from)) continue;
    renames.set(to, from);
    taken.add(from);
  }
  return renames;
}

/** The share of lines that two files have in common, of the longer one's; 1 for equal bytes. */
function likenessOf(old: TreeFile | null, now: TreeFile | null): number {
  if (old === null || now === null) return 0;
  if (old.bytes.equals(now.bytes)) return 1;
  if (old.bytes.includes(0) || now.bytes.includes(0)) return 0;
  const ours = splitLines(old.bytes.toString('latin1'));
  const theirs = splitLines(now.bytes.toString('latin1'));
  const texts = internLines({ base: [], ours, theirs });
  const kept = diffLines(texts.ours, texts.theirs, texts.size).filter((partner) => partner >= 0);
  return kept.length / Math.max(ours.length, theirs.length, 1);
}
