import { diffLines } from '../lines/diff.ts';
import { at } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import type { LineSpan } from '../lines/regions.ts';
import { mergeValue, type Versions } from '../versions.ts';
import { type Side, type Sides, spanOf } from './parsed-side.ts';
import { isSameWords, type Word, wordsBetween } from './syntax-words.ts';

/** Above this many words the other side's own layout is taken, so that no input is slow. */
const MAX_WORDS = 2000;
/** A slice begins where a line does. */
const LINE_START = '\n';
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

/** The side whose words a stretch gets, and their text: in the new layout, and unchanged. */
export type Layout = {
  readonly words: 'ours' | 'theirs';
  readonly text: string;
  readonly plain: string;
};

/** A stretch of one side: its text, where it begins, and its words. */
type Slice = { readonly text: string; readonly start: number; readonly words: readonly Word[] };

/**
 * Resolves a stretch in which one side changed only the layout: it takes the other side's words in that layout. If
 * both sides have the same words, each gap comes from the side that changed it; if both changed it, or the base has
 * other words, ours wins.
 *
 * @returns null where both changed words, where the other side deleted all of them, or where a comment or
 *   string crosses an edge
 */
export function mergeLayout(region: Versions<LineSpan>, sides: Sides): Layout | null {
  const slices = mapVersions(NAMES, (name) => sliceOf(sides[name], region[name]));
  const { base, ours, theirs } = slices;
  if (base === null || ours === null || theirs === null) return null;
  if (isSameWords(ours.words, theirs.words)) {
    const isLayout = isSameWords(base.words, ours.words);
    const plain = { words: 'ours', text: ours.text, plain: ours.text } as const;
    return isLayout ? (layOut('ours', ours, base, theirs) ?? plain) : plain;
  }
  if (isSameWords(base.words, ours.words)) return layOut('theirs', theirs, base, ours);
  if (isSameWords(base.words, theirs.words)) return layOut('ours', ours, base, theirs);
  return null;
}

function sliceOf(side: Side, lines: LineSpan): Slice | null {
  const { start, end } = spanOf(side, lines);
  const words = wordsBetween(side.words, start, end);
  return words === null ? null : { text: side.text.slice(start, end), start, words };
}

/** Lays out the words of one side as the other side lays out the base's; null if that is not possible. */
export function layOut(
  name: Layout['words'],
  words: Slice,
  base: Slice,
  layout: Slice,
): Layout | null {
  if (words.words.length === 0) return null;
  const plain = words.text;
  if (words.words.length + base.words.length > MAX_WORDS)
    return { words: name, text: plain, plain };
  return { words: name, text: withLayout(words, base, layout), plain };
}

/**
 * Returns the words of one slice, spelled and spaced as in the layout wherever that changed words of the
 * base. Words that the base does not have keep their own spacing, indented as their surroundings now are, and so
 * does a pair of brackets that would else be laid out as in a bit of both.
 */
function withLayout(words: Slice, base: Slice, layout: Slice): string {
  const partners = pairWords(words.words, base.words);
  const pairs = base.words.flatMap(
    (_, index) => pairOf(index, gapBefore(base, index), gapBefore(layout, index)) ?? [],
  );
  const own = gapsToKeep(words, base, layout, partners);
  const parts: string[] = [];
  // The last word of the base that was passed.
  let passed = -1;
  for (let index = 0; index <= words.words.length; index++) {
    const isEnd = index === words.words.length;
    const partner = isEnd ? base.words.length : at(partners, index);
    const gap = gapBefore(words, index);
    // Beside a word that the base has not, a gap is still the base's if it looks like that.
    const isBeside = index === 0 || at(partners, index - 1) >= 0;
    // Space at the end of the base says nothing of words that are put in there, nor do words that touch, nor the base of
    // what is between two of them.
    const isPutIn = partner < 0;
    const isBetween = (place: number) =>
      isEnd || (place < base.words.length && !(isPutIn && (gap === '' || !isBeside)));
    const kept = [partner, passed + 1].find(
      (place) =>
        place >= 0 &&
        isBetween(place) &&
        ((isBeside && partner === passed + 1) || gapBefore(base, place) === gap),
    );
    parts.push(
      kept === undefined || own.has(index)
        ? reindent(gap, passed, pairs)
        : mergeValue({ base: gapBefore(base, kept), ours: gap, theirs: gapBefore(layout, kept) }),
    );
    if (isEnd) break;
    parts.push(
      partner < 0
        ? requote(spelling(words, index), base, layout)
        : mergeValue({
            base: spelling(base, partner),
            ours: spelling(words, index),
            theirs: spelling(layout, partner),
          }),
    );
    if (partner >= 0) passed = partner;
  }
  return parts.join('').slice(LINE_START.length);
}

/** A line that two layouts begin with the same word: where it is, and its indentation in both. */
type Pair = { readonly index: number; readonly from: string; readonly to: string };

/** Compares the indentation of the gaps before one word in two layouts; null where one starts no line. */
function pairOf(index: number, from: string, to: string): Pair | null {
  const indents = { from: indentOf(from), to: indentOf(to) };
  if (indents.from === null || indents.to === null) return null;
  return { index, from: indents.from, to: indents.to };
}

/** Returns a gap of the first layout with its last line indented as the lines around it are in the second. */
function reindent(gap: string, index: number, pairs: readonly Pair[]): string {
  const indent = indentOf(gap);
  if (indent === null) return gap;
  const same = nearest(index, pairs, ({ from }) => from === indent);
  const outer = same ?? nearest(index, pairs, ({ from }) => indent.startsWith(from));
  if (outer === null) return gap;
  const deeper = indent.slice(outer.from.length);
  return gap.slice(0, gap.length - indent.length) + outer.to + restep(deeper, pairs);
}

/** Converts indentation beyond both known layouts into steps of the second one. */
function restep(deeper: string, pairs: readonly Pair[]): string {
  const steps = pairs.filter(({ from }) => from !== '');
  const [step] = steps.toSorted((one, other) => one.from.length - other.from.length);
  return step === undefined ? deeper : deeper.replaceAll(step.from, step.to);
}

function nearest(
  index: number,
  pairs: readonly Pair[],
  isFit: (pair: Pair) => boolean,
): Pair | null {
  let best: Pair | null = null;
  for (const pair of pairs) {
    if (!isFit(pair)) continue;
    if (best === null || Math.abs(pair.index - index) < Math.abs(best.index - index)) best = pair;
  }
  return best;
}

/** Returns the indentation that a gap ends with; null where it starts no line. */
function indentOf(gap: string): string | null {
  return /\n([ \t]*)$/.exec(gap)?.[1] ?? null;
}

type Bracket = { readonly open: number; readonly gaps: number[] };

/**
 * Returns the gaps of a slice that stay as they are: those right within a pair of brackets that the base does not have,
 * that both sides laid out anew, or that the layout puts on one line where the slice puts in a word on a line of its own.
 */
function gapsToKeep(
  words: Slice,
  base: Slice,
  layout: Slice,
  partners: Int32Array,
): ReadonlySet<number> {
  const isPutIn = (index: number) => at(partners, index) < 0;
  const own = new Set<number>();
  for (const { open, gaps } of bracketsIn(words)) {
    const known = gaps
      .filter((gap) => !isPutIn(gap) && at(partners, gap - 1) === at(partners, gap) - 1)
      .map((gap) => ({
        mine: formOf(gapBefore(words, gap)),
        before: formOf(gapBefore(base, at(partners, gap))),
        other: formOf(gapBefore(layout, at(partners, gap))),
      }));
    const isLaidOut = known.some(({ before, other }) => other !== before);
    const isByBoth = isLaidOut && known.some(({ before, mine }) => mine !== before);
    const isOnOneLine = isLaidOut && known.every(({ other }) => !other.includes('\n'));
    const isOnLines = gaps.some((gap) => isPutIn(gap) && gapBefore(words, gap).includes('\n'));
    if (isPutIn(open) || isByBoth || (isOnOneLine && isOnLines))
      for (const gap of gaps) own.add(gap);
  }
  return own;
}

/** Lists the pairs of brackets in a slice, and the gaps that are right within each. */
function bracketsIn(slice: Slice): readonly Bracket[] {
  const brackets: Bracket[] = [];
  const open: Bracket[] = [];
  for (const index of slice.words.keys()) {
    const word = spelling(slice, index);
    open.at(-1)?.gaps.push(index);
    if (CLOSING.has(word)) open.pop();
    if (!OPENING.has(word)) continue;
    const bracket = { open: index, gaps: [] };
    brackets.push(bracket);
    open.push(bracket);
  }
  return brackets;
}

/** Returns a gap without indentation and blank lines. */
function formOf(gap: string): string {
  return gap.replace(/\s*\n\s*/g, '\n');
}

/** Returns a string that the base does not have, in the quotes that the layout gives to strings of the base. */
function requote(word: string, base: Slice, layout: Slice): string {
  const [, quote, inside] = /^(['"])([^'"\\]*)\1$/.exec(word) ?? [];
  if (quote === undefined) return word;
  const index = base.words.findIndex((_, place) => spelling(base, place).startsWith(quote));
  const [other = ''] = index < 0 ? quote : spelling(layout, index);
  return `${other}${inside}${other}`;
}

/** Pairs each word of one with its partner in the other, or -1. */
function pairWords(one: readonly Word[], other: readonly Word[]): Int32Array {
  const numbers = new Map<string, number>();
  const intern = ({ norm }: Word) => {
    const number = numbers.get(norm) ?? numbers.size;
    numbers.set(norm, number);
    return number;
  };
  const a = Int32Array.from(one, intern);
  const b = Int32Array.from(other, intern);
  return diffLines(a, b, numbers.size);
}

/** Returns the gap before a word, or after the last one: space, and maybe a trailing comma. */
function gapBefore({ text, start, words }: Slice, index: number): string {
  const from = (words[index - 1]?.end ?? start) - start;
  const gap = text.slice(from, (words[index]?.start ?? start + text.length) - start);
  return index === 0 ? LINE_START + gap : gap;
}

function spelling({ text, start, words }: Slice, index: number): string {
  const word = words[index];
  return word === undefined ? '' : text.slice(word.start - start, word.end - start);
}
