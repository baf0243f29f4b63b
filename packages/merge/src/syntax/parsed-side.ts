import { isUtf8 } from 'node:buffer';
import { contentOf, mapVersions, splitLines, terminatorOf } from '../lines/lines.ts';
import type { LineSpan } from '../lines/regions.ts';
import type { Versions } from '../versions.ts';
import type { Language } from './language.ts';
import { type Parse, parseSyntax, type Syntax } from './parse.ts';
import { type Word, wordsOf } from './syntax-words.ts';

/** A text as the syntax levels see it: decoded, its lines ended by line feeds, parsed. */
export type Side = {
  readonly text: string;
  /** The offset of each line, and after the last one the end of the text. */
  readonly starts: readonly number[];
  readonly syntax: Syntax;
  readonly words: readonly Word[];
};

/** Three versions that all parse. */
export type Sides = Versions<Side> & {
  /** True if the lines they were read from are bytes as latin1; what is made of them is, too. */
  readonly isBytes: boolean;
};

const BEYOND_ASCII = /[\x80-\xff]/;
const BEYOND_LATIN1 = /[^\0-\xff]/;

/** Reads three versions; null where one of them does not parse. */
export function readSides(
  lines: Versions<readonly string[]>,
  language: Language,
  parse: Parse = parseSyntax,
): Sides | null {
  const texts = mapVersions(lines, joinLines);
  // Bytes read as latin1 hold no letters outside ASCII that a parser would take for such.
  const isBytes = Object.values(texts).every(isUtf8Bytes);
  const read = (text: string) => readText(isBytes ? decode(text) : text, language, parse);
  const [base, ours, theirs] = [read(texts.base), read(texts.ours), read(texts.theirs)];
  if (base === null || ours === null || theirs === null) return null;
  return { base, ours, theirs, isBytes };
}

/** Returns the text that lines make, decoded if they are bytes, with line feeds only. */
export function decodeLines(lines: readonly string[]): string {
  const text = joinLines(lines);
  return isUtf8Bytes(text) ? decode(text) : text;
}

/** Reads a text that is decoded and has line feeds only; null where it does not parse. */
export function readText(
  text: string,
  language: Language,
  parse: Parse = parseSyntax,
): Side | null {
  const syntax = parse(text, language, { tokens: true });
  if (syntax === null) return null;
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return { text, starts, syntax, words: wordsOf(text, syntax.tokens) };
}

/** Returns the offsets of a stretch of lines. */
export function spanOf(side: Side, { start, end }: LineSpan): LineSpan {
  const last = side.text.length;
  return { start: side.starts[start] ?? last, end: side.starts[end] ?? last };
}

/** Returns the first line that begins at or after an offset. */
export function lineFrom({ starts }: Side, offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a text made of the sides, as lines like those they were read from. */
export function linesOf(text: string, { isBytes }: Sides): readonly string[] {
  return splitLines(isBytes ? Buffer.from(text, 'utf8').toString('latin1') : text);
}

function joinLines(lines: readonly string[]): string {
  const isPlain = lines.every((line) => terminatorOf(line) === '\n');
  return isPlain ? lines.join('') : lines.map((line) => `${contentOf(line)}\n`).join('');
}

function isUtf8Bytes(text: string): boolean {
  if (BEYOND_LATIN1.test(text)) return false;
  return !BEYOND_ASCII.test(text) || isUtf8(Buffer.from(text, 'latin1'));
}

function decode(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}
