import { at, diffLines, type Hunk, internLines, splitLines } from '@patchclaw/merge';
import type { AnsweredHunk } from '../installed/resolution.ts';

/**
 * Finds in a finished text the lines that resolve each conflict: those between the resolved lines around it. Null if
 * two conflicts touch, because their lines cannot be told apart.
 *
 * @param text read as latin1, like the hunks
 */
export function extractAnswers(
  hunks: readonly Hunk[],
  text: string,
): readonly AnsweredHunk[] | null {
  const finished = splitLines(text);
  const stretches = locateResolutions(hunks, finished) ?? placeByDiff(hunks, finished);
  if (stretches === null) return null;
  const conflicts = hunks.filter((hunk) => hunk.kind === 'conflict');
  return conflicts.map(({ base, ours, theirs }, index) => {
    const stretch = stretches[index];
    const resolved = stretch ? finished.slice(stretch.start, stretch.end) : [];
    return { base, ours, theirs, resolved };
  });
}

/** Locates the resolutions where resolved lines were changed as well: between the lines that are left. */
function placeByDiff(
  hunks: readonly Hunk[],
  finished: readonly string[],
): readonly Stretch[] | null {
  const skeleton: string[] = [];
  const places: number[] = [];
  for (const hunk of hunks) {
    if (hunk.kind === 'resolved') skeleton.push(...hunk.lines);
    else {
      places.push(skeleton.length);
      // No line of a text: lines hold no NUL but in binary files, which have no hunks.
      skeleton.push(`\0${places.length}`);
    }
  }
  const texts = internLines({ base: [], ours: skeleton, theirs: finished });
  const partners = diffLines(texts.ours, texts.theirs, texts.size);
  const stretches = places.map((place) => stretchAround(place, partners, finished.length));
  const isMixed = stretches.some(({ to }, index) => (places[index + 1] ?? Infinity) < to);
  return isMixed ? null : stretches;
}

/** Returns the stretch of the finished text, and up to where in the skeleton nothing has a partner. */
function stretchAround(
  place: number,
  partners: Int32Array,
  length: number,
): Stretch & { readonly to: number } {
  let before = place - 1;
  while (before >= 0 && at(partners, before) < 0) before -= 1;
  let behind = place + 1;
  while (behind < partners.length && at(partners, behind) < 0) behind += 1;
  const first = before < 0 ? 0 : at(partners, before) + 1;
  const last = behind === partners.length ? length : at(partners, behind);
  // Resolved lines that were changed as well are taken to be changed one for one: they are not the answer.
  const changedBefore = place - 1 - before;
  const changedBehind = behind - place - 1;
  const isRoom = last - first >= changedBefore + changedBehind;
  return {
    to: behind,
    start: isRoom ? first + changedBefore : first,
    end: isRoom ? last - changedBehind : last,
  };
}

/** Lines of a finished text from `start` up to `end` that resolve one conflict. */
type Stretch = { readonly start: number; readonly end: number };

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/**
 * Locates the resolution of each conflict in a finished text, if every resolved line is unchanged. A
 * resolution may itself contain resolved lines: a place that makes it a side, or both sides, is preferred,
 * else the first place.
 *
 * @returns one stretch for each conflict in order; null where resolved lines were changed
 */
function locateResolutions(
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
