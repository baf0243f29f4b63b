import { mapVersions } from './lines/lines.ts';
import { layOut } from './syntax/layout.ts';
import { isSameWords, type Word } from './syntax/syntax-words.ts';
import type { Versions } from './versions.ts';

/** Longer stretches are compared by lines alone, so that no input is slow. */
const MAX_LENGTH = 20_000;
/** Quotes of texts that span several lines, in which all white space counts. */
const QUOTES = /"""|'''|`/g;
const HEREDOC = /<<[-~]?\s*(["']?)([A-Za-z_]\w*)\1/;

/**
 * Merges lines of which one side changed only white space, in any language. The other side's words and removals are
 * kept, in the layout of the first. If both sides have the same words, the shorter text is kept.
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
 * A string on one line is one word, as the space in it counts, and so is the rest of a line after a quote without
 * an end. Lines are bytes: only spaces and tabs are sure to be no part of a letter.
 */
const WORD =
  /"(?:[^"\\]|\\.)*(?:"|$)|(?<![\w\u0080-\u00ff])'(?:[^'\\]|\\.)*(?:'|$)|[\w\u0080-\u00ff]+|[^ \t]/g;
const INDENT = /^[ \t]*/;
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSED_BY: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);
/** A comment to the end of the line, in SQL and Lua. */
const DASHES = /(?:^|\s)--(?:\s|$)/;

/** A text of lines, each after a line feed, and its words. */
type LineWords = { readonly text: string; readonly words: readonly Word[] };

/**
 * Reads the words of some lines in any language. Where a line begins, and how far it is indented, are words, too, as
 * they can be meaning; within brackets only after a comment, which may end there, and in curly ones where a statement
 * may. Blank lines are none.
 *
 * @param lines without their ends
 */
function readLineWords(lines: readonly string[]): LineWords {
  const found = lines.map((line) => [...line.matchAll(WORD)]);
  const spelled = found.map((some) => some.map(([word]) => word));
  const inside = bracketsAround(spelled);
  const words: Word[] = [];
  let [start, isAfterComment, last] = [0, false, ''];
  for (const [index, line] of lines.entries()) {
    const some = found[index] ?? [];
    const first = start + 1;
    const bracket = inside[index] ?? null;
    const isEnd = bracket === null || (bracket === '{' && mayEndStatement(last, some[0]?.[0]));
    if (some.length > 0 && (isEnd || isAfterComment)) {
      const [indent = ''] = INDENT.exec(line) ?? [];
      words.push({ norm: `\n${indent}`, start, end: first + indent.length });
    }
    if (some.length > 0) {
      isAfterComment = (spelled[index] ?? []).some(isComment) || DASHES.test(line);
      last = some.at(-1)?.[0] ?? '';
    }
    for (const { 0: norm, index: at } of some) {
      words.push({ norm, start: first + at, end: first + at + norm.length });
    }
    start = first + line.length;
  }
  return { text: lines.map((line) => `\n${line}`).join(''), words };
}

/** Tells whether a statement may end between two words on two lines: not in a list, nor beside its brackets. */
function mayEndStatement(above: string, below = ''): boolean {
  return above !== ',' && !OPENING.has(above) && !CLOSED_BY.has(below);
}

/** Returns the innermost bracket around the head of each line; null outside all of them, and in a call of a shell. */
function bracketsAround(lines: readonly (readonly string[])[]): readonly (string | null)[] {
  // What is closed and not opened was opened above.
  const open: string[] = [];
  const above: string[] = [];
  const read = (words: readonly string[]) => {
    for (const [index, word] of words.entries()) {
      if (isComment(word, index, words)) break;
      if (OPENING.has(word)) open.push(words[index - 1] === '$' && word === '(' ? '$(' : word);
      const opening = CLOSED_BY.get(word);
      if (opening !== undefined && open.pop() === undefined) above.unshift(opening);
    }
  };
  for (const words of lines) read(words);
  open.splice(0, open.length, ...above);
  return lines.map((words) => {
    const inner = open.at(-1) ?? null;
    read(words);
    return inner === '$(' ? null : inner;
  });
}

/** Tells whether a comment to the end of the line may begin with a word. */
function isComment(word: string, index: number, words: readonly string[]): boolean {
  return word === '#' || (word === '/' && words[index + 1] === '/');
}

/**
 * Makes a test whether the line at a place may be inside a text over several lines: a string, a fenced block or a
 * heredoc. It reads the lines once, and only when asked.
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
