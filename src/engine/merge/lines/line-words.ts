import type { Word } from '../syntax/words.ts';

/**
 * A string on one line is one word, as the space in it counts, and so is the rest of a line after a quote without
 * an end. Lines are bytes: only spaces and tabs are sure to be no part of a letter.
 */
const WORD =
  /"(?:[^"\\]|\\.)*(?:"|$)|(?<![\w\u0080-\u00ff])'(?:[^'\\]|\\.)*(?:'|$)|[\w\u0080-\u00ff]+|[^ \t]/g;
const INDENT = /^[ \t]*/;
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

/** A text of lines, each after a line feed, and its words. */
export type LineWords = { readonly text: string; readonly words: readonly Word[] };

/**
 * Reads the words of some lines in any language. Where a line begins, and how far it is indented, are words, too, as
 * they can be meaning; within brackets only after a comment, which may end there. Blank lines are none.
 *
 * @param lines without their ends
 */
export function readLineWords(lines: readonly string[]): LineWords {
  const found = lines.map((line) => [...line.matchAll(WORD)]);
  const spelled = found.map((some) => some.map(([word]) => word));
  const { depths, least } = depthsOf(spelled);
  const words: Word[] = [];
  let [start, isAfterComment] = [0, false];
  for (const [index, line] of lines.entries()) {
    const some = found[index] ?? [];
    const first = start + 1;
    if (some.length > 0 && (depths[index] === least || isAfterComment)) {
      const [indent = ''] = INDENT.exec(line) ?? [];
      words.push({ norm: `\n${indent}`, start, end: first + indent.length });
    }
    if (some.length > 0) isAfterComment = (spelled[index] ?? []).some(isComment);
    for (const { 0: norm, index: at } of some) {
      words.push({ norm, start: first + at, end: first + at + norm.length });
    }
    start = first + line.length;
  }
  return { text: lines.map((line) => `\n${line}`).join(''), words };
}

/** Counts the brackets that are open at the head of each line; the lowest count is that outside all of them. */
function depthsOf(lines: readonly (readonly string[])[]) {
  let [depth, least] = [0, 0];
  const depths = lines.map((words) => {
    const before = depth;
    for (const [index, word] of words.entries()) {
      if (isComment(word, index, words)) break;
      if (OPENING.has(word)) depth++;
      else if (CLOSING.has(word)) depth--;
      least = Math.min(least, depth);
    }
    return before;
  });
  return { depths, least };
}

/** Tells whether a comment to the end of the line may begin with a word. */
function isComment(word: string, index: number, words: readonly string[]): boolean {
  return word === '#' || (word === '/' && words[index + 1] === '/');
}
