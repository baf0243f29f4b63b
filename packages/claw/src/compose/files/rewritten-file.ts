import { type Hunk, isSameFile, type mergeFiles, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import type { AnsweredHunk } from '../../installed/resolution.ts';
import { answeredFile, isSameLines } from '../answer.ts';
import type { ComposedTree } from '../composition.ts';
import { conflictHunks } from '../conflict-hunks.ts';
import type { ConflictOutcome } from '../resolve-conflict.ts';
import { decidedKey, type LostChange } from './deleted-file.ts';

type Composing = {
  readonly tree: ComposedTree;
  readonly resolve: (conflict: Conflict) => ConflictOutcome;
  readonly merge: typeof mergeFiles;
  /** Skills whose work on a path was decided together with that of an earlier one, by `decidedKey`. */
  readonly decided: Set<string>;
};

/**
 * Takes a file in which the release changed the very lines that several skills change. The owner is asked once for
 * all of them, with their merged changes as theirs. If one side is chosen for all, this is also noted for each of
 * them, so it holds when one is removed.
 *
 * @param changes of the skills that change the file, in canonical order
 * @returns whether it was taken; not where the skills disagree among each other, where one of them meets the release in
 *   another place, or where something is known of one of them already, so that each is asked about
 */
export function takeRewrittenFile(
  { tree, resolve, merge, decided }: Composing,
  path: string,
  changes: readonly LostChange[],
): boolean {
  const ours = tree.file(path);
  const [first, ...later] = changes;
  if (ours === null || first === undefined || later.length === 0) return false;
  const ask = (skills: readonly string[], sides: Pick<LostChange, 'base' | 'theirs'>) =>
    disagreement(merge, path, skills, { ...sides, ours });
  const own = changes.flatMap(({ skill, ...sides }) => ask([skill], sides) ?? []);
  if (own.length < changes.length) return false;
  let whole = first.theirs;
  // What the skills up to each one come to, so that each has its own lines where theirs are chosen.
  const steps = [whole];
  for (const { base, theirs } of later) {
    const merged = merge({ base, ours: whole, theirs }, { path });
    if (merged.kind !== 'clean' || merged.file === null) return false;
    whole = merged.file;
    steps.push(whole);
  }
  const skills = changes.map(({ skill }) => skill);
  const question = ask(skills, { base: first.base, theirs: whole });
  if (question === null || !own.every((one) => isSamePlaces(one, question))) return false;
  const outcome = resolve(question);
  if (outcome.kind === 'open') {
    if (own.some((one) => isKnown(one, resolve(one)))) return false;
    tree.conflict(outcome.conflict);
    return true;
  }
  const { resolved } = outcome;
  const file = answeredFile(question, resolved.answer);
  const side = (['ours', 'theirs'] as const).find((one) =>
    isSameFile(file, answeredFile(question, choose(question, one))),
  );
  for (const [at, skill] of skills.entries()) {
    const upTo = skills.slice(0, at + 1);
    const step =
      side === 'theirs' && at < later.length
        ? ask(upTo, { base: first.base, theirs: steps[at] ?? whole })
        : null;
    const made = step === null ? file : answeredFile(step, choose(step, 'theirs'));
    tree.put(path, made, skill, at === 0 ? resolved : null);
    decided.add(decidedKey(path, skill));
  }
  const { decision } = resolved;
  if (decision === null || decision.amended !== null || side === undefined) return true;
  for (const conflict of own) {
    tree.addResolved({ conflict, answer: choose(conflict, side), decision, keys: [] });
  }
  return true;
}

/** Returns the question about lines that skills and the release change; null where they agree, or not by lines. */
function disagreement(
  merge: typeof mergeFiles,
  path: string,
  skills: readonly string[],
  sides: { readonly base: TreeFile; readonly ours: TreeFile; readonly theirs: TreeFile },
): Conflict | null {
  const outcome = merge(sides, { path });
  if (outcome.kind === 'clean' || outcome.conflict !== 'content') return null;
  const hunks = conflictHunks(outcome, sides);
  const open = hunks.filter(isOpen);
  if (open.length === 0) return null;
  return {
    path,
    kind: 'content',
    layers: ['core', skills.join(', ')],
    authors: open.map(() => 'core'),
    reason: `${['core', ...skills.slice(0, -1)].join(', ')} and ${skills.at(-1)} change the same lines.`,
    hunks,
    sides,
    values: null,
  };
}

/** Tells whether two questions are about the same lines of the base, which the release has in the same other form. */
function isSamePlaces(one: Conflict, other: Conflict): boolean {
  const [places, others] = [one.hunks.filter(isOpen), other.hunks.filter(isOpen)];
  return (
    places.length === others.length &&
    places.every((place, at) => {
      const there = others[at];
      return (
        there !== undefined &&
        isSameLines(place.base, there.base) &&
        isSameLines(place.ours, there.ours)
      );
    })
  );
}

/** Tells whether something is known of a question, if only of one of its places. */
function isKnown(question: Conflict, outcome: ConflictOutcome): boolean {
  return (
    outcome.kind === 'resolved' ||
    outcome.conflict.hunks.filter(isOpen).length < question.hunks.filter(isOpen).length
  );
}

function choose(conflict: Conflict, side: 'ours' | 'theirs') {
  const hunks = conflict.hunks.filter(isOpen).map((hunk): AnsweredHunk => {
    const { base, ours, theirs } = hunk;
    return { base, ours, theirs, resolved: hunk[side] };
  });
  return { kind: 'hunks', hunks } as const;
}

function isOpen(hunk: Hunk): hunk is Extract<Hunk, { kind: 'conflict' }> {
  return hunk.kind === 'conflict';
}
