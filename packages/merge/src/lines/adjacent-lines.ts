import type { Versions } from '../versions.ts';
import { type IsMissed, wordsLost } from './related-lines.ts';

const WORD = /[\w\u0080-\u00ff]+/g;
/** Text for people: what it says goes on in the next line. */
const COMMENT = /^\s*(?:\/\/|#(?!!?\[)|\/?\*|--|;|<!--)/;

/**
 * Merges two neighbouring lines of which each side changed one.
 *
 * It stays a conflict in comments, whose lines form one text; if one side replaced a word that the other side adds in
 * the line beside it, which may need the same change; if one side only removed a word that the other's line has; if
 * both add the same word, as both may have done the same work; if a line came from elsewhere; and if the other side
 * uses a removed word again.
 *
 * @param sides lines without their ends
 * @param isKnown tells whether the whole base has a line
 * @returns null where the sides changed anything else
 */
export function mergeAdjacent(
  sides: Versions<readonly string[]>,
  isKnown: (line: string) => boolean,
  isMissed: IsMissed,
): readonly string[] | null {
  const { base, ours, theirs } = sides;
  if (ours.length !== base.length || theirs.length !== base.length) return null;
  const [mine, mineToo] = changesOf(sides, ours);
  const [other, otherToo] = changesOf(sides, theirs);
  if (mine === undefined || other === undefined || mineToo !== undefined || otherToo !== undefined)
    return null;
  if (Math.abs(mine.index - other.index) !== 1) return null;
  if ([mine.before, mine.after, other.before, other.after].some((line) => COMMENT.test(line)))
    return null;
  if (isSweep(mine, other) || isSweep(other, mine) || isShared(mine, other)) return null;
  if (isPair(mine.before, other.before) || isPair(other.before, mine.before)) return null;
  if (isKnown(mine.after) || isKnown(other.after)) return null;
  if (isMissed(wordsLost(mine.before, mine.after), 'ours')) return null;
  if (isMissed(wordsLost(other.before, other.after), 'theirs')) return null;
  return ours.map((line, index) => (index === other.index ? other.after : line));
}

/** A place, and what is meant there: each is tried with the other one only. */
const PLACE = /^[\s"'-]*(?:git|url|uri|repo|repository|source|src|image|registry|path)\b/i;
const VERSION =
  /^[\s"'-]*(?:rev|revision|ref|tag|branch|commit|version|sha\d*|sum|checksum|hash|digest|integrity)\b/i;

/** Tells whether two lines belong together, such as where a package is from and its revision there. */
function isPair(one: string, other: string): boolean {
  return PLACE.test(one) && VERSION.test(other);
}

/** A line that one side changed, and the other one left or changed in another way. */
type Change = { readonly index: number; readonly before: string; readonly after: string };

function changesOf(
  { base, ours, theirs }: Versions<readonly string[]>,
  side: readonly string[],
): readonly Change[] {
  return side.flatMap((after, index) => {
    const before = base[index] ?? '';
    return after === before || ours[index] === theirs[index] ? [] : [{ index, before, after }];
  });
}

/** Tells whether a change replaced a word that another one brings in, or only took out one that the other one has. */
function isSweep(one: Change, other: Change): boolean {
  const [before, after] = [wordsIn(one.before), wordsIn(one.after)];
  const [known, brought] = [wordsIn(other.before), wordsIn(other.after)];
  const isRemoval = [...after].every((word) => before.has(word));
  return [...brought].some(
    (word) => before.has(word) && !after.has(word) && (isRemoval || !known.has(word)),
  );
}

/** Tells whether two changes bring a word that neither line had. */
function isShared(one: Change, other: Change): boolean {
  const [mine, its] = [broughtBy(one), broughtBy(other)];
  return mine.some((word) => its.includes(word));
}

function broughtBy({ before, after }: Change): readonly string[] {
  const known = wordsIn(before);
  return [...wordsIn(after)].filter((word) => !known.has(word));
}

function wordsIn(line: string): ReadonlySet<string> {
  return new Set(line.match(WORD));
}
