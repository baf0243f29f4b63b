import { isSameFile, type mergeFiles, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import { answeredFile } from '../answer.ts';
import type { ComposedTree } from '../composition.ts';
import type { ConflictOutcome, ResolvedConflict } from '../resolve-conflict.ts';

type Composing = {
  readonly tree: ComposedTree;
  readonly resolve: (conflict: Conflict) => ConflictOutcome;
  readonly merge: typeof mergeFiles;
  /** Skills whose work on a path was decided together with that of an earlier one, by `decidedKey`. */
  readonly decided: Set<string>;
};

/** The work of one skill on a file that the release does not have. */
export type LostChange = {
  readonly skill: string;
  readonly base: TreeFile;
  readonly theirs: TreeFile;
};

/**
 * Takes a file that the release no longer has and that several skills change. The owner is asked once for all of
 * them: delete it, or keep it with all their changes. The decision is also noted for each of them, so it holds when
 * one is removed. A skill that comes later is asked about together with the others.
 *
 * @param changes of two skills or more, in canonical order
 * @returns whether it was taken; not where the skills disagree in it, so that each is asked about
 */
export function takeLostFile(
  { tree, resolve, merge, decided }: Composing,
  path: string,
  changes: readonly LostChange[],
): boolean {
  const [first, ...later] = changes;
  if (first === undefined || later.length === 0) return false;
  let whole = first.theirs;
  for (const { base, theirs } of later) {
    const merged = merge({ base, ours: whole, theirs }, { path });
    if (merged.kind !== 'clean' || merged.file === null) return false;
    whole = merged.file;
  }
  const skills = changes.map(({ skill }) => skill);
  const question = lostFile(path, skills, { base: first.base, theirs: whole });
  const own = changes.map(({ skill, ...sides }) => lostFile(path, [skill], sides));
  const outcome = resolve(question);
  const known = outcome.kind === 'open' ? knownFate(own.map(resolve)) : null;
  if (outcome.kind === 'open' && known === null) {
    tree.conflict(outcome.conflict);
    return true;
  }
  const resolved = outcome.kind === 'resolved' ? outcome.resolved : null;
  const file = resolved === null ? null : answeredFile(question, resolved.answer);
  const stays = known?.fate === 'stays' || (file !== null && isSameFile(file, whole));
  if (stays) {
    // With the first one's change there, those of the others merge as ever.
    tree.put(path, first.theirs, first.skill, resolved ?? known?.resolved[0] ?? null);
    for (const one of known?.resolved.slice(1) ?? []) tree.addResolved(one);
  } else {
    for (const [at, skill] of skills.entries()) {
      tree.put(path, file, skill, known?.resolved[at] ?? (at === 0 ? resolved : null));
      decided.add(decidedKey(path, skill));
    }
  }
  if ((stays || file === null) && resolved !== null && resolved.decision !== null) {
    const { decision } = resolved;
    for (const conflict of own) {
      const answer = { kind: 'file', file: stays ? conflict.sides.theirs : null } as const;
      tree.addResolved({ conflict, answer, decision, keys: [] });
    }
  }
  return true;
}

/** Returns the key under which a skill's work on a path counts as decided together with the others'. */
export function decidedKey(path: string, skill: string): string {
  return `${skill}\0${path}`;
}

type Fate = {
  readonly fate: 'gone' | 'stays';
  /** The decision, as noted for each skill. */
  readonly resolved: readonly ResolvedConflict[];
};

/** Returns what is known of the file by each skill alone; null where one is not known, or they differ. */
function knownFate(outcomes: readonly ConflictOutcome[]): Fate | null {
  const resolved = outcomes.flatMap((one) => (one.kind === 'resolved' ? [one.resolved] : []));
  if (resolved.length < outcomes.length) return null;
  const files = resolved.map(({ conflict, answer }) => ({
    own: conflict.sides.theirs,
    file: answeredFile(conflict, answer),
  }));
  if (files.every(({ file }) => file === null)) return { fate: 'gone', resolved };
  const isWhole = files.every(({ own, file }) => file !== null && isSameFile(file, own));
  return isWhole ? { fate: 'stays', resolved } : null;
}

function lostFile(
  path: string,
  skills: readonly string[],
  { base, theirs }: Pick<LostChange, 'base' | 'theirs'>,
): Conflict {
  const reason =
    skills.length === 1
      ? `${skills[0]} changes this file, but core does not have it.`
      : `${skills.slice(0, -1).join(', ')} and ${skills.at(-1)} change this file, but core does not have it.`;
  const sides = { base, ours: null, theirs };
  const layers = ['core', skills.join(', ')] as const;
  return {
    path,
    kind: 'modify-delete',
    layers,
    authors: [],
    reason,
    hunks: [],
    sides,
    values: null,
  };
}
