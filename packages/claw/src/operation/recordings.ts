import type { ResolvedConflict } from '../compose/resolve-conflict.ts';
import { contradicts } from '../compose/suggestions.ts';
import { type Conflict, OWNER } from '../conflict.ts';
import { digestBytes } from '../digest.ts';
import { type Answer, type Resolution, resolutionKey, subjectOf } from '../installed/resolution.ts';
import { renderAnswered, resolutionPath } from '../installed/resolution-file.ts';
import type { KeptResolutions } from './state-steps.ts';

/**
 * Selects the recordings that stay known after a command: this installation's own, those in use, and the new
 * ones that its decisions make, which replace contradicting ones.
 *
 * A decision about the owner's own edits or customisations is not recorded: those carry it themselves.
 */
export function keepResolutions(
  resolvedConflicts: readonly ResolvedConflict[],
  present: readonly Resolution[],
  customisations: ReadonlySet<string>,
): KeptResolutions {
  const used = new Set(resolvedConflicts.flatMap(({ keys }) => keys));
  const known = new Map<string, { digest: Resolution['digest']; own: boolean; used: boolean }>();
  for (const { key, digest, isOwn } of present) {
    if (isOwn || used.has(key)) known.set(key, { digest, own: isOwn, used: used.has(key) });
  }
  const made = new Map<string, Buffer>();
  for (const { conflict, answer, decision } of resolvedConflicts) {
    const isOwners = conflict.layers[0] === OWNER || customisations.has(conflict.layers[1]);
    if (decision === null || isOwners) continue;
    const subject = subjectOf(conflict);
    const key = resolutionKey(subject, answer);
    const bytes = renderAnswered({
      subject,
      answer: withAuthors(answer, conflict),
      origin: decision.origin,
    });
    made.set(resolutionPath(key), bytes);
    known.set(key, { digest: digestBytes(bytes), own: true, used: true });
  }
  const anew = resolvedConflicts.filter(({ decision }) => decision !== null);
  const outdated = present.filter((one) =>
    anew.some(({ conflict, answer }) => contradicts(one, conflict, answer)),
  );
  for (const { key } of outdated) known.delete(key);
  return { known, made, outdated: outdated.map(({ key }) => resolutionPath(key)) };
}

/** Adds the author of ours to each hunk, so that it is recognised again between the same layers. */
function withAuthors(answer: Answer, { authors, layers }: Conflict): Answer {
  if (answer.kind !== 'hunks') return answer;
  const hunks = answer.hunks.map(({ base, ours, theirs, resolved }, at) => {
    const author = authors?.[at] ?? layers[0];
    const named = author === layers[0] ? {} : { author };
    return { base, ours, theirs, resolved, ...named };
  });
  return { kind: 'hunks', hunks };
}
