import { at, diffLines, type Hunk, internLines, splitLines } from '@patchclaw/merge';
import type { AnsweredHunk } from '../installed/resolution.ts';
import { locateResolutions, type Stretch } from './locate-resolutions.ts';

/**
 * Finds in a finished text the lines that resolve each conflict of it: those between the resolved lines
 * around that conflict. Null where two conflicts run into each other, because their lines cannot be told
 * apart.
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
