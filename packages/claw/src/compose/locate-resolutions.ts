import type { Hunk } from '@patchclaw/merge';

/** Lines of a finished text from `start` up to `end` that resolve one conflict. */
export type Stretch = { readonly start: number; readonly end: number };

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/**
 * Locates the resolution of each conflict in a finished text, if every resolved line is unchanged. A
 * resolution may itself contain resolved lines: a place that makes it a side, or both sides, is preferred,
 * else the first place.
 *
 * @returns one stretch for each conflict in order; null where resolved lines were changed
 */
export function locateResolutions(
  hunks: readonly Hunk[],
  finished: readonly string[],
): readonly Stretch[] | null {
  const stretches: Stretch[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    if (hunk.kind === 'resolved') {
      if (!standsAt(finished, hunk.lines, from)) return null;
      from += hunk.lines.length;
      continue;
    }
    const end = endOfAnswer(hunk, hunks.slice(index + 1), { finished, from });
    if (end === null) return null;
    stretches.push({ start: from, end });
    from = end;
  }
  return from === finished.length ? stretches : null;
}

type Reader = { readonly finished: readonly string[]; readonly from: number };

function endOfAnswer(
  conflict: ConflictHunk,
  rest: readonly Hunk[],
  { finished, from }: Reader,
): number | null {
  const [next] = rest;
  if (next === undefined) return finished.length;
  if (next.kind === 'conflict') return null;
  if (rest.length === 1) {
    const end = finished.length - next.lines.length;
    return end >= from && standsAt(finished, next.lines, end) ? end : null;
  }
  const usual = usualAnswers(conflict).find((lines) => {
    const end = from + lines.length;
    const stands = standsAt(finished, lines, from) && standsAt(finished, next.lines, end);
    // The rest has to find its place as well.
    return stands && isPlaceable(rest, { finished, from: end });
  });
  return usual ? from + usual.length : placeOf(finished, next.lines, from);
}

function usualAnswers({ ours, theirs }: ConflictHunk): readonly (readonly string[])[] {
  return [[...ours, ...theirs], [...theirs, ...ours], ours, theirs];
}

/** Tells whether the rest can be placed: the first places that fit leave the most room. */
function isPlaceable(rest: readonly Hunk[], { finished, from }: Reader): boolean {
  const resolved = rest.flatMap((hunk) => (hunk.kind === 'resolved' ? [hunk.lines] : []));
  let at = from;
  for (const [index, lines] of resolved.entries()) {
    if (index === resolved.length - 1 && rest.at(-1)?.kind === 'resolved') {
      return finished.length - lines.length >= at;
    }
    const place = placeOf(finished, lines, at);
    if (place === null) return false;
    at = place + lines.length;
  }
  return true;
}

function placeOf(text: readonly string[], lines: readonly string[], from: number): number | null {
  for (let at = from; at + lines.length <= text.length; at += 1) {
    if (standsAt(text, lines, at)) return at;
  }
  return null;
}

function standsAt(text: readonly string[], lines: readonly string[], at: number): boolean {
  return (
    at + lines.length <= text.length && lines.every((line, index) => line === text[at + index])
  );
}
