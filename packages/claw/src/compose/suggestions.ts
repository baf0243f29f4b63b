import type { Conflict } from '../conflict.ts';
import {
  type Answer,
  isSameAnswer,
  isSameSubject,
  type Resolution,
  subjectOf,
} from '../installed/resolution.ts';
import { disputesOf, fits, isSameLines, ownAnswerTo } from './answer.ts';

/**
 * Returns recordings to offer: they fit a conflict, but may not resolve it by themselves, because they are of other
 * layers, from elsewhere, or of the same lines in another file.
 */
export function suggestionsFor(
  conflict: Conflict,
  resolutions: readonly Resolution[],
): readonly Resolution[] {
  const subject = subjectOf(conflict);
  return resolutions.filter((one) => {
    const isAlike = one.subject.kind === conflict.kind && fits(conflict, one.answer);
    if (!isAlike || one.answer.kind === 'hunks') return isAlike;
    // A whole file answers to the very same sides only, a value to any requirement for the same key.
    const isHere = one.answer.kind === 'value' && one.subject.path === conflict.path;
    return isHere || isSameSubject({ ...one.subject, path: conflict.path }, subject);
  });
}

/** Tells whether a recording would resolve a conflict, or one of its hunks, differently from the decision. */
export function contradicts(one: Resolution, conflict: Conflict, decided: Answer): boolean {
  const subject = subjectOf(conflict);
  if (isSameSubject(one.subject, subject)) {
    return fits(conflict, one.answer) && !isSameAnswer(one.answer, decided);
  }
  if (decided.kind !== 'hunks') return false;
  return disputesOf(conflict).some((dispute, at) => {
    const other = ownAnswerTo(one, dispute);
    const resolved = decided.hunks[at]?.resolved ?? [];
    return other !== null && !isSameLines(other.resolved, resolved);
  });
}
