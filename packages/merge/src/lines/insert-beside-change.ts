import type { Versions } from '../versions.ts';
import { at, type Interned } from './interned-lines.ts';
import { type Cut, commonHead, commonTail, type Region, rangesBetween } from './regions.ts';
import { type IsMissed, isChangedLine, isTelling, wordsIn, wordsLost } from './related-lines.ts';

/** Signs of a line's style, or that a line is commented out: a comment sign, or a semicolon or comma at the end. */
const SIGNS = /^[ \t]*(?:\/\/|#|--|;|<!--|\/\*|%|\(\*|\{-|"(?! *[:,])|rem\b)|[;,]\s*$/gi;
/**
 * Words whose line decides whether those beside it run, and in what way: the end of a function or program, what goes on
 * with the block above, what a name is, and what may wait.
 */
const DECIDES =
  /\b(?:return|throw|raise|break|continue|goto|exit|abort|die|panic|fatal|else|elif|elsif|elseif|except|catch|finally|rescue|ensure|const|let|var|async|await)\b/gi;
/** Signs that a member of a list has a default value or is optional. */
const OPTIONAL = /[^=!<>]=(?![=>])|\?:/;
/** More lines are a rewrite, of which lines say little. */
const MAX_LINES = 40;

/**
 * Splits a conflict in which one side only inserted lines, directly above or below a line that the other side
 * changed. The order of both is certain, because the line on the other side of the insertion is unchanged.
 *
 * A line counts as changed, not replaced, if half of its words are the same and it is more like the old line than
 * like any inserted one.
 *
 * @returns the change and the insertion as regions of their own; null where neither side only inserted
 */
export function partInsertion(
  region: Region,
  texts: Interned,
  lines: Versions<readonly string[]>,
  isMissed: IsMissed,
): readonly Region[] | null {
  const whole = { texts, lines, isMissed };
  return partBy('ours', region, whole) ?? partBy('theirs', region, whole);
}

/** Three texts, by numbers and by words. */
type Whole = {
  readonly texts: Interned;
  readonly lines: Versions<readonly string[]>;
  readonly isMissed: IsMissed;
};

const OTHER = { ours: 'theirs', theirs: 'ours' } as const;

/** Parts a conflict where `name` is the side that inserted. */
function partBy(
  name: 'ours' | 'theirs',
  region: Region,
  { texts, lines, isMissed }: Whole,
): readonly Region[] | null {
  const editor = OTHER[name];
  const [base, longer, changed] = (['base', name, editor] as const).map((side) =>
    texts[side].subarray(region[side].start, region[side].end),
  );
  if (base === undefined || longer === undefined || changed === undefined) return null;
  const { length } = base;
  const isSized = length > 0 && length === changed.length && longer.length > length;
  if (!isSized || longer.length > MAX_LINES) return null;
  const isBelow = commonHead(base, longer) === length;
  // An insertion that begins and ends with the changed line could be on either side of it.
  if (isBelow === (commonTail(base, longer) === length)) return null;
  const beside = isBelow ? length - 1 : 0;
  const inserted = { start: isBelow ? length : 0, end: longer.length - (isBelow ? 0 : length) };
  const before = lines.base[region.base.start + beside] ?? '';
  const after = lines[editor][region[editor].start + beside] ?? '';
  const { start } = region[name];
  const added = lines[name].slice(start + inserted.start, start + inserted.end);
  if (!isChangedLine(after, before, added) || isSweep(before, after, added)) return null;
  if (decides(before, after) || isMissed(wordsLost(before, after), editor)) return null;
  const said = (side: 'base' | 'ours' | 'theirs') =>
    lines[side].slice(region[side].start, region[side].end);
  if (isShared(said('base'), said(editor), added)) return null;
  if (isRowOfMany(said('base'), said(editor), added)) return null;
  if (changed.includes(at(longer, isBelow ? length : inserted.end - 1))) return null;
  const from = cutAt(region, 'start');
  const to = cutAt(region, 'end');
  const middle: Cut = isBelow
    ? { ...to, [name]: from[name] + length }
    : { ...from, [name]: to[name] - length };
  const [first, second] = isBelow ? [editor, name] : [name, editor];
  return [
    { kind: first, ...rangesBetween(from, middle) },
    { kind: second, ...rangesBetween(middle, to) },
  ];
}

/** Tells whether the insertion brings a word that the change brings as well: both may have done the same work. */
function isShared(
  before: readonly string[],
  after: readonly string[],
  added: readonly string[],
): boolean {
  const [known, words] = [new Set(before.flatMap(wordsIn)), new Set(added.flatMap(wordsIn))];
  return after
    .flatMap(wordsIn)
    .some((word) => isTelling(word) && words.has(word) && !known.has(word));
}

/**
 * Tells whether two or more lines got or lost the same word, and an inserted one begins as they do: a row more of those
 * that all were changed, such as a route among routes that all got a guard.
 */
function isRowOfMany(
  before: readonly string[],
  after: readonly string[],
  added: readonly string[],
): boolean {
  const counts = new Map<string, number>();
  const heads = new Set<string>();
  for (const [index, line] of before.entries()) {
    const [mine, its] = [new Set(wordsIn(line)), new Set(wordsIn(after[index] ?? ''))];
    const changed = [...mine, ...its].filter((word) => mine.has(word) !== its.has(word));
    for (const word of changed) if (isTelling(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    if (changed.length > 0) heads.add(headOf(line));
  }
  const isOfMany = [...counts.values()].some((count) => count > 1);
  if (isOfMany && added.some((line) => heads.has(headOf(line)))) return true;
  // A column more, or one less, in every row.
  const [columns, ...others] = new Set(after.map(columnsOf));
  const isTable = after.length > 1 && others.length === 0 && columns !== columnsOf(before[0] ?? '');
  return isTable && added.some((line) => columnsOf(line) !== columns);
}

function columnsOf(line: string): number {
  return line.match(/[,;\t|]/g)?.length ?? 0;
}

/** Returns how a row begins: its first words, up to a bracket or a sign between two values. */
function headOf(line: string): string {
  return /^\s*[^\s([{:=,]*/.exec(line)?.[0].trim() ?? '';
}

/** Tells whether a change of a line decides what an insertion beside it does. */
function decides(before: string, after: string): boolean {
  if (indentOf(before) !== indentOf(after)) return true;
  if (isOptional(before) !== isOptional(after)) return true;
  const [mine, its] = [before, after].map((line) => (line.match(DECIDES) ?? []).join(' '));
  return mine !== its;
}

function isOptional(line: string): boolean {
  return line.trimEnd().endsWith(',') && OPTIONAL.test(line);
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function cutAt(region: Region, edge: 'start' | 'end'): Cut {
  return { base: region.base[edge], ours: region.ours[edge], theirs: region.theirs[edge] };
}

/**
 * Tells whether the insertion has words that the change replaced, or those beside which it put some in or took
 * some out, or the change is one of style: the same change may then be due there, as with a name that is spelled
 * otherwise now.
 */
function isSweep(before: string, after: string, added: readonly string[]): boolean {
  if (signsOf(before) !== signsOf(after)) return true;
  const [mine, its] = [wordsIn(before), wordsIn(after)];
  let head = 0;
  while (head < mine.length && head < its.length && mine[head] === its[head]) head++;
  let tail = 0;
  const most = Math.min(mine.length, its.length) - head;
  while (tail < most && mine.at(-1 - tail) === its.at(-1 - tail)) tail++;
  const replaced = mine.slice(head, mine.length - tail);
  const isReplaced = replaced.length > 0 && its.length > head + tail;
  const beside = [mine[head - 1] ?? '', mine[mine.length - tail] ?? ''];
  const about = isReplaced ? replaced : [...replaced, ...beside];
  const words = new Set(added.flatMap(wordsIn));
  // An insertion of space and signs alone is no work that must not wait.
  return words.size === 0 || about.some((word) => isTelling(word) && words.has(word));
}

function signsOf(line: string): string {
  return (line.match(SIGNS) ?? []).map((sign) => sign.trim()).join(' ');
}
