import { mapVersions } from './lines/line-ends.ts';
import { type LineWords, readLineWords } from './lines/line-words.ts';
import { layOut } from './syntax/layout.ts';
import { isSameWords } from './syntax/words.ts';
import type { Versions } from './tree.ts';

/** Longer stretches are compared by lines alone, so that no input is slow. */
const MAX_LENGTH = 20_000;
/** What begins and ends a text over several lines, in which all space counts. */
const QUOTES = /"""|'''|`/g;
const HEREDOC = /<<[-~]?\s*(["']?)([A-Za-z_]\w*)\1/;

/**
 * Merges lines of which one side changed nothing but space, in any language: the other side's words stand in its
 * layout, and what the other side took out is gone. Where both sides have the same words, the shorter text stands.
 *
 * @param sides lines without their ends
 * @returns null where both sides changed words, each in its own way
 */
export function mergeSpace(sides: Versions<readonly string[]>): readonly string[] | null {
  const lengths = Object.values(sides).map((lines) => lines.join('\n').length);
  if (lengths.some((length) => length > MAX_LENGTH)) return null;
  const [before, mine, other] = [sides.base, sides.ours, sides.theirs].map((lines) =>
    lines.join('').replaceAll(/[ \t]+/g, ''),
  );
  if (mine !== other && mine !== before && other !== before) return null;
  const { base, ours, theirs } = mapVersions(sides, readLineWords);
  if (isSameWords(ours.words, theirs.words)) {
    return ours.words.length > 0 ? shorterOf(sides.ours, sides.theirs) : null;
  }
  if (base.words.length === 0) return null;
  if (isSameWords(base.words, ours.words)) return withLayout('theirs', theirs, base, ours);
  if (isSameWords(base.words, theirs.words)) return withLayout('ours', ours, base, theirs);
  return null;
}

/** Returns the words of one side as the other one lays out the base's; as they were, where that would change a word. */
function withLayout(
  name: 'ours' | 'theirs',
  words: LineWords,
  base: LineWords,
  layout: LineWords,
): readonly string[] {
  const [mine, before, laid] = [words, base, layout].map((some) => ({ ...some, start: 0 }));
  if (mine === undefined || before === undefined || laid === undefined) return [];
  const result = layOut(name, mine, before, laid);
  if (result === null) return [];
  const lines = linesIn(result.text);
  return isSameWords(readLineWords(lines).words, words.words) ? lines : linesIn(result.plain);
}

function linesIn(text: string): readonly string[] {
  return text.split('\n').slice(1);
}

/** Returns the shorter of two texts, whichever side it is of; of equal ones the first by its letters. */
function shorterOf(one: readonly string[], other: readonly string[]): readonly string[] {
  const [mine, its] = [one.join('\n'), other.join('\n')];
  const isFirst = mine.length === its.length ? mine <= its : mine.length < its.length;
  return isFirst ? one : other;
}

/**
 * Makes a test of lines, by their place: whether one may be within a text over several lines, a string, a fenced block
 * or a heredoc. Reads the lines once, and only when it is asked.
 */
export function findLiterals(lines: readonly string[]): (place: number) => boolean {
  let known: readonly boolean[] | null = null;
  return (place) => {
    known ??= literalsIn(lines);
    return known[place] === true;
  };
}

/** Tells of each line, and of the end, whether it is in such a text. */
function literalsIn(lines: readonly string[]): readonly boolean[] {
  let isQuoted = false;
  let heredoc: string | null = null;
  const known = [false];
  for (const line of lines) {
    if (heredoc === null) {
      if ((line.match(QUOTES)?.length ?? 0) % 2 === 1) isQuoted = !isQuoted;
      heredoc = HEREDOC.exec(line)?.[2] ?? null;
    } else if (line.trim() === heredoc) heredoc = null;
    known.push(heredoc !== null || isQuoted);
  }
  return known;
}
