import { at, diffLines, internLines, splitLines, type TreeFile } from '@patchclaw/merge';

/** A possible ancestor of a package's change, and the place where it was found. */
export type BaseCandidate = { readonly file: TreeFile; readonly from: string };

/** The candidate that was taken, and the lines that the package adds to it and takes out. */
export type ChosenBase = BaseCandidate & {
  readonly changedLines: number;
  /** Older candidates, other in more than layout, that it changes just as little. */
  readonly alsoFits: readonly string[];
};

/**
 * Returns the candidate that a changed file changes least: added plus deleted lines, layout apart. Ties go to
 * the first. One that it does not change at all cannot be what it was written against: the core had
 * the same once, and gave it up.
 *
 * @param candidates newest first
 * @returns null where no candidate is left
 */
export function chooseBase(
  candidates: readonly BaseCandidate[],
  modified: TreeFile,
): ChosenBase | null {
  const wanted = linesOf(modified);
  let least = Number.POSITIVE_INFINITY;
  let nearest: { readonly candidate: BaseCandidate; readonly text: string }[] = [];
  for (const candidate of candidates) {
    const lines = linesOf(candidate.file);
    // As many lines as the lengths differ by are changed in any case.
    if (Math.abs(lines.length - wanted.length) > least) continue;
    const changedLines = countChanges(lines, wanted);
    if (changedLines === 0 || changedLines > least) continue;
    if (changedLines < least) nearest = [];
    least = changedLines;
    nearest.push({ candidate, text: lines.join('\n') });
  }
  const [first, ...rest] = nearest;
  if (first === undefined) return null;
  const others = rest.filter(({ text }) => text !== first.text);
  return {
    ...first.candidate,
    changedLines: least,
    alsoFits: others.map(({ candidate }) => candidate.from),
  };
}

/** Returns a file's lines without the characters that a formatter may change: space, quotes, line ends. */
function linesOf({ bytes }: TreeFile): readonly string[] {
  return splitLines(bytes.toString('latin1'))
    .map((line) => line.replace(/\s+/g, '').replace(/["`]/g, "'").replace(/[,;]$/, ''))
    .filter((line) => line !== '');
}

function countChanges(before: readonly string[], after: readonly string[]): number {
  const { base, ours, size } = internLines({ base: before, ours: after, theirs: [] });
  const partners = diffLines(base, ours, size);
  let kept = 0;
  for (let index = 0; index < base.length; index++) if (at(partners, index) >= 0) kept += 1;
  return base.length + ours.length - 2 * kept;
}
