import type { Word } from '../syntax/words.ts';

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
export type LineWords = { readonly text: string; readonly words: readonly Word[] };

/**
 * Reads the words of some lines in any language. Where a line begins, and how far it is indented, are words, too, as
 * they can be meaning; within brackets only after a comment, which may end there, and in curly ones where a statement
 * may. Blank lines are none.
 *
 * @param lines without their ends
 */
export function readLineWords(lines: readonly string[]): LineWords {
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
