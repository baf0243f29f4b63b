import type { Token } from './parse.ts';

/** A token without its layout: texts with equal meaning have equal `norm`s, one by one. */
export type Word = { readonly norm: string; readonly start: number; readonly end: number };

const CLOSING: ReadonlySet<string> = new Set([')', ']', '}', '>']);
/** Words after which a line end ends the statement. */
const RESTRICTED: ReadonlySet<string> = new Set(['return', 'throw', 'break', 'continue']);

/**
 * Returns the words of a text: its tokens and comments, without trailing commas and the white space of JSX that only
 * indents.
 */
export function wordsOf(text: string, tokens: readonly Token[]): readonly Word[] {
  const code = tokens.filter(({ kind }) => kind !== 'comment');
  const spelling = (token: Token | undefined) => text.slice(token?.start, token?.end ?? 0);
  const trailing = new Set(
    code.filter((token, index) => {
      const previous = code[index - 1];
      if (
        text[token.start] !== ',' ||
        spelling(token) !== ',' ||
        !CLOSING.has(spelling(code[index + 1]))
      )
        return false;
      // After these a comma is a hole in an array.
      return previous !== undefined && spelling(previous) !== ',' && spelling(previous) !== '[';
    }),
  );
  const words: Word[] = [];
  for (const [index, token] of tokens.entries()) {
    if (trailing.has(token)) continue;
    const next = tokens[index + 1];
    const norm = normOf(text, token);
    if (norm === '') continue;
    const isCut =
      RESTRICTED.has(norm) && text.slice(token.end, next?.start ?? token.end).includes('\n');
    words.push({ norm: isCut ? `${norm}\n` : norm, start: token.start, end: token.end });
  }
  return words;
}

/** Returns the words between two offsets; null where a word crosses an edge. */
export function wordsBetween(
  words: readonly Word[],
  start: number,
  end: number,
): readonly Word[] | null {
  const first = firstFrom(words, start);
  const last = firstFrom(words, end);
  const isWhole = (words[first - 1]?.end ?? start) <= start && (words[last - 1]?.end ?? end) <= end;
  return isWhole ? words.slice(first, last) : null;
}

/** Tells whether two runs of words are the same. */
export function isSameWords(one: readonly Word[], other: readonly Word[]): boolean {
  return one.length === other.length && one.every(({ norm }, index) => norm === other[index]?.norm);
}

function normOf(text: string, { kind, start, end }: Token): string {
  const spelling = text.slice(start, end);
  if (kind === 'string') return `"${spelling.slice(1, -1).replaceAll(/\\(['"])/g, '$1')}"`;
  if (kind === 'comment') return trimLines(spelling.trim());
  if (kind !== 'jsx' || !spelling.includes('\n')) return spelling;
  const kept = spelling.trimEnd();
  const isCut = spelling.includes('\n', kept.length);
  return trimLines((isCut ? kept : spelling).replace(/^\s*\n\s*/, ''));
}

function trimLines(text: string): string {
  return text.replaceAll(/\n[ \t]+/g, '\n').replaceAll(/(?<![ \t])[ \t]*\r?\n/g, '\n');
}

/** Counts the words except the separators of lists. */
export function countWords(words: readonly Word[]): number {
  return words.filter(({ norm }) => norm !== ',' && norm !== ';').length;
}

/** Returns the index of the first item that begins at or after an offset. */
export function firstFrom(sorted: readonly { readonly start: number }[], offset: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
