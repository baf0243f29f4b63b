import {
  changedLines,
  type FileMerge,
  isSameFile,
  type LineRange,
  type mergeFiles,
  type TreeFile,
} from '@patchclaw/merge';
import type { ComposedTree } from '../composition.ts';
import { decidedKey } from '../files/deleted-file.ts';

type Composing = {
  readonly tree: ComposedTree;
  readonly merge: typeof mergeFiles;
  /** Layers whose work on a path was taken together with that of an earlier one, by `decidedKey`. */
  readonly decided: Set<string>;
};

/** The work of one layer on a file; null where the file is not there. */
export type LayerChange = {
  readonly skill: string;
  readonly base: TreeFile | null;
  readonly theirs: TreeFile | null;
};

/**
 * Takes the work of several layers on a file as one change, as `git merge` takes a branch, where the first of them
 * disagrees with what is there but all of them together do not: a later one makes of its lines what the release has made
 * of them.
 *
 * @param changes of the layers that change the file, from the first that disagrees on, in canonical order
 * @returns whether it was taken; not where a layer takes back what another did to lines that the release has changed,
 *   since then nothing of the layers would speak for them
 */
export function takeWholeChange(
  { tree, merge, decided }: Composing,
  path: string,
  changes: readonly LayerChange[],
): boolean {
  const [first, ...later] = changes;
  if (first === undefined || later.length === 0) return false;
  const steps = [first.theirs];
  for (const { base, theirs } of later) {
    const merged = merge({ base, ours: steps.at(-1) ?? null, theirs }, { path });
    if (merged.kind !== 'clean') return false;
    steps.push(merged.file);
  }
  const [base, ours] = [first.base, tree.file(path)];
  const onto = (theirs: TreeFile | null) => merge({ base, ours, theirs }, { path });
  const isClean = onto(steps.at(-1) ?? null).kind === 'clean';
  if (!isClean || isTakenBack({ base, ours, steps })) return false;
  for (const [at, { skill }] of changes.entries()) {
    tree.put(path, asFarAsAgreed(onto(steps[at] ?? null), ours), skill);
    decided.add(decidedKey(path, skill));
  }
  return true;
}

/**
 * Returns what a part of the layers makes of the file; where they still disagree, what is there: those lines come with
 * the layer that ends it.
 */
function asFarAsAgreed(merged: FileMerge, ours: TreeFile | null): TreeFile | null {
  if (merged.kind === 'clean') return merged.file;
  if (merged.conflict !== 'content' || ours === null) return ours;
  const lines = merged.hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : hunk.ours));
  return { ...ours, bytes: Buffer.from(lines.join(''), 'latin1') };
}

type Chain = {
  readonly base: TreeFile | null;
  readonly ours: TreeFile | null;
  /** The file after each of the layers. */
  readonly steps: readonly (TreeFile | null)[];
};

/** Tells whether layers changed lines that are as before after the last of them, and that ours has otherwise. */
function isTakenBack({ base, ours, steps }: Chain): boolean {
  const whole = steps.at(-1) ?? null;
  if (base === null || ours === null || whole === null) return !isSameFile(ours, whole);
  const changed = (file: TreeFile | null) => changedLines(file?.bytes ?? null, base.bytes);
  const [kept, news] = [changed(whole), changed(ours)];
  const touched = steps.flatMap((step) => changed(step));
  return touched.some((range) => !meets(range, kept) && meets(range, news));
}

function meets([from, to]: LineRange, ranges: readonly LineRange[]): boolean {
  return ranges.some(([first, last]) => from <= last && first <= to);
}
