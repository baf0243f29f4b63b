import { mapVersions, NAMES } from '../lines/lines.ts';
import type { LineSpan } from '../lines/regions.ts';
import type { Format } from '../syntax/language.ts';
import { type Nesting, readNesting } from '../syntax/nesting.ts';
import type { Versions } from '../versions.ts';

/** Characters that layout may change: space, quotes, and the escapes of quotes; of lists the separators, too. */
const LAYOUT = /[\s'"\\,]+/g;
const SEPARATORS = /[,;]+/g;
/** A line that begins a member of a union. */
const UNION = /^[ \t]*\|(?!\|)/m;
/** A line that begins a member among statements: an import, or a declaration whose place is free. */
const FREE =
  /^[ \t]*(?:(?:export|default|declare|async|abstract|const)[ \t]+)*(?:import|function|interface|type|enum)\b/m;
/** A list may be within lines that have one of these. */
const LIST = /[{|]/;

/** Tells whether layout or syntax may resolve a conflict. */
export type Solvable = (region: Versions<LineSpan>) => boolean;

/**
 * Makes a test whether layout or syntax may resolve a conflict: one side only changed layout, both have the same
 * words, or both only inserted into a list. It compares letters, and the brackets of the base, so that most conflicts
 * need no parser.
 */
export function findSolvable(lines: Versions<readonly string[]>, format: Format): Solvable {
  let nesting: Nesting | null | undefined;
  const known = new Map<Versions<LineSpan>, boolean>();
  return (region) => {
    const answer = known.get(region) ?? isSolvable(region);
    known.set(region, answer);
    return answer;
  };

  function isSolvable(region: Versions<LineSpan>): boolean {
    const said = mapVersions(NAMES, (name) =>
      lines[name].slice(region[name].start, region[name].end).join(''),
    );
    const { base, ours, theirs } = mapVersions(said, (text) => text.replaceAll(LAYOUT, ''));
    if (ours === theirs || ours === base || theirs === base) return true;
    // Of JSON the members that one side took out may be left out as well.
    if (format === 'json') return true;
    const letters = mapVersions({ base, ours, theirs }, (text) => text.replaceAll(SEPARATORS, ''));
    if (!isWithin(letters.base, letters.ours) || !isWithin(letters.base, letters.theirs))
      return false;
    if (LIST.test(said.base)) return true;
    if (nesting === undefined) nesting = readNesting(lines.base);
    return nesting === null || mayBeInList(region, said, lines, nesting);
  }
}

/**
 * Tells whether what both sides inserted may be members of a list: not between statements, in a call or an array,
 * unless its brackets do not match, as where alignment cut through a member.
 */
function mayBeInList(
  { base, ours, theirs }: Versions<LineSpan>,
  said: Versions<string>,
  lines: Versions<readonly string[]>,
  { around, brackets, isText }: Nesting,
): boolean {
  const isWhole = (name: keyof Versions<unknown>, { start, end }: LineSpan) =>
    readNesting(lines[name].slice(start, end)) !== null;
  if (isText[base.start] === 1 || !isWhole('base', base)) return true;
  if (!isWhole('ours', ours) || !isWhole('theirs', theirs)) return true;
  const bracket = brackets[around[base.start] ?? -1];
  if (bracket?.sign === '{' && !bracket.isBlock) return true;
  const isMember = (text: string) => UNION.test(text) || (bracket === undefined && FREE.test(text));
  return isMember(said.ours) && isMember(said.theirs);
}

/** Tells whether a text is another one with something put in. */
function isWithin(text: string, longer: string): boolean {
  let found = 0;
  for (let index = 0; index < longer.length && found < text.length; index++) {
    if (longer[index] === text[found]) found++;
  }
  return found === text.length;
}
