import type { Range } from '../lines/regions.ts';
import { createPartFinder } from './whole-parts.ts';

/** Shorter parts are not worth a cut. */
const MIN_BLANK = 4;
/** A whole statement on one line that tells a module from a script. */
const MODULE =
  /^(?:import|export)\b(?:[^{}'"]*|[^{}'"]*\{[^{}'"]*\}[^{}'"]*)(?:'[^']*'|"[^"]*");?\s*$/;
const BLANK = '\n';

/**
 * Returns a program of as many lines, in which whole statements and members are blank that have nothing of what is
 * wanted in them: it parses as the whole one does, in a part of the time. Names in what is blank are not seen. The first
 * line that tells a module from a script stays.
 *
 * It may not parse, as where lines that look like statements are none.
 *
 * @param wanted ranges of lines; they may overlap, and reach beyond the text
 */
export function outlineOf(lines: readonly string[], wanted: readonly Range[]): readonly string[] {
  const module = moduleLine(lines);
  const kept = module < 0 ? wanted : [...wanted, { start: module, end: module + 1 }];
  let outline: string[] | null = null;
  const findParts = createPartFinder(lines);
  for (const gap of gapsBetween(lines.length, kept)) {
    for (const { start, end } of findParts(gap)) {
      if (end - start < MIN_BLANK) continue;
      outline ??= [...lines];
      outline.fill(BLANK, start, end);
    }
  }
  return outline ?? lines;
}

/** Finds the line that tells a module from a script; -1 without one. */
export function moduleLine(lines: readonly string[]): number {
  const only = lines.findIndex((line) => MODULE.test(line));
  return only >= 0 ? only : lines.findIndex((line) => /^(?:import|export)\b/.test(line));
}

function* gapsBetween(length: number, ranges: readonly Range[]): Iterable<Range> {
  let from = 0;
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (start > from) yield { start: from, end: Math.min(start, length) };
    from = Math.max(from, end);
  }
  if (from < length) yield { start: from, end: length };
}
