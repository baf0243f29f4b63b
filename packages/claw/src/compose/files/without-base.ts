import {
  at,
  diffLines,
  type FileMerge,
  type Hunk,
  internLines,
  splitLines,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';

/**
 * Merges a changed file whose ancestor is unknown. Pure insertions are taken. Every line of ours that it
 * lacks is a disagreement: it may be newer than the package, or meant to go.
 */
export function mergeWithoutBase({ ours, theirs }: Omit<Versions<TreeFile>, 'base'>): FileMerge {
  const isExecutable = ours.isExecutable || theirs.isExecutable;
  if (ours.bytes.equals(theirs.bytes)) return { kind: 'clean', file: { ...ours, isExecutable } };
  if (ours.bytes.includes(0) || theirs.bytes.includes(0)) {
    return { kind: 'conflict', conflict: 'binary', hunks: [], isExecutable };
  }
  const hunks = alignedHunks(linesOf(ours), linesOf(theirs));
  if (hunks.some(({ kind }) => kind === 'conflict')) {
    return { kind: 'conflict', conflict: 'content', hunks, isExecutable };
  }
  const text = hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : [])).join('');
  return { kind: 'clean', file: { bytes: Buffer.from(text, 'latin1'), isExecutable } };
}

function linesOf({ bytes }: TreeFile): readonly string[] {
  return splitLines(bytes.toString('latin1'));
}

function alignedHunks(ours: readonly string[], theirs: readonly string[]): readonly Hunk[] {
  const texts = internLines({ base: [], ours, theirs });
  const partners = diffLines(texts.ours, texts.theirs, texts.size);
  const hunks: Hunk[] = [];
  let resolved: string[] = [];
  let last = { ours: -1, theirs: -1 };
  for (let index = 0; index <= ours.length; index++) {
    const partner = index === ours.length ? theirs.length : at(partners, index);
    if (partner < 0) continue;
    const mine = ours.slice(last.ours + 1, index);
    const brought = theirs.slice(last.theirs + 1, partner);
    if (mine.length === 0) resolved.push(...brought);
    else {
      if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
      resolved = [];
      hunks.push({ kind: 'conflict', base: [], ours: mine, theirs: brought });
    }
    const kept = ours[index];
    if (kept !== undefined) resolved.push(kept);
    last = { ours: index, theirs: partner };
  }
  if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
  return hunks;
}
