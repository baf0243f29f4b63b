import { mapVersions } from '../lines/lines.ts';
import { isSideItself, type LineSpan, linesOf, type Region } from '../lines/regions.ts';
import { outlineOf } from '../syntax/excerpt.ts';
import { createDefectFinder, type Defect } from '../syntax/faults/merge-defects.ts';
import { type Format, isLanguage } from '../syntax/language.ts';
import type { Parse } from '../syntax/parse.ts';
import { decodeLines } from '../syntax/parsed-side.ts';
import type { Versions } from '../versions.ts';
import { reopenInvalid } from './join-regions.ts';
import { usesLostName } from './lost-names.ts';
import { type Suspicion, suspicionOf, type WordsIn } from './needs-syntax-check.ts';

/**
 * Characters that the checks of one text read, the versions of it among them. Counted and not timed, so that the same
 * texts merge alike on every machine.
 */
const MAX_CHECKED = 5 << 17;
/** A merge that does not parse is a conflict, whatever the reason. */
const UNTOLD = () => null;
/** A part of a program does not tell whether a private name is declared elsewhere: the versions do. */
const LOST: Defect = { kind: 'syntax', fault: { line: 1, reason: 'a name is not declared' } };

type Lines = Versions<readonly string[]>;

/** The versions of a merge, and what reads them. */
type Read = {
  readonly lines: Lines;
  readonly format: Format;
  readonly parse: Parse;
  readonly wordsIn: WordsIn;
};

/** Looks for defects of one merge, within a budget. */
export type DefectCheck = {
  readonly read: Read;
  /** The characters that may still be read. A proposal counts for nothing once they are spent. */
  readonly budget: { left: number; isProposal: boolean };
  /** Finds defects of texts as they are read where some names, or null, are all that is looked for. */
  readonly finderFor: (names: Suspicion['names']) => FindDefect;
};

type FindDefect = ReturnType<typeof createDefectFinder>;

/** Makes a check with its whole budget. */
export function createCheck(read: Read): DefectCheck {
  const budget = { left: MAX_CHECKED, isProposal: false };
  const finders = new Map<Suspicion['names'], FindDefect>();
  const createFinder = (names: Suspicion['names']) => {
    const readInputs = () => {
      const inputs = mapVersions(read.lines, (lines) => readAbout(names, lines, read));
      for (const input of Object.values(inputs)) budget.left -= input.length;
      return budget.isProposal && budget.left <= 0 ? null : inputs;
    };
    return createDefectFinder(read.format, readInputs, read.parse, UNTOLD);
  };
  const finderFor = (names: Suspicion['names']) => {
    const finder = finders.get(names) ?? createFinder(names);
    finders.set(names, finder);
    return finder;
  };
  return { read, budget, finderFor };
}

/**
 * Returns the text of a program in which everything can be seen that has one of some names, or is around that, or is
 * wanted. The whole text where it would not parse.
 */
function readAbout(
  names: Suspicion['names'],
  lines: readonly string[],
  { format, parse, wordsIn }: Read,
  wanted: readonly LineSpan[] = [],
): string {
  if (names === null || !isLanguage(format)) return decodeLines(lines);
  const text = decodeLines(outlineOf(lines, [...wanted, ...linesWith(names, lines, wordsIn)]));
  return parse(text, format, { tokens: false }) === null ? decodeLines(lines) : text;
}

/** Returns where the answers to conflicts are in the merged lines. */
function answersIn(regions: readonly Region[], lines: Lines): readonly LineSpan[] {
  let line = 0;
  return regions.flatMap((region) => {
    const start = line;
    line += linesOf(region, lines).length;
    return region.kind === 'resolved' ? [{ start, end: line }] : [];
  });
}

/**
 * Makes conflicts of regions that cause a defect if open conflicts are decided for one of the sides. Once the budget
 * is spent, it looks for nothing more; what it has found stays a conflict.
 */
export function reopen(
  regions: readonly Region[],
  { sides, names }: Suspicion,
  check: DefectCheck,
): readonly Region[] {
  const { read, budget, finderFor } = check;
  const { lines, format } = read;
  const isConflict = ({ kind }: Region) => kind === 'conflict';
  const isOpen = regions.some(isConflict);
  const findDefect = finderFor(names);
  for (const side of sides) {
    if (budget.left <= 0) return regions;
    if (isSideItself(regions, side)) continue;
    const filled = regions.map(
      (region): Region => (isConflict(region) ? { ...region, kind: side } : region),
    );
    const merged = filled.flatMap((region) => linesOf(region, lines));
    const text = readAbout(names, merged, read, answersIn(filled, lines));
    budget.left -= text.length;
    const syntax = isLanguage(format) ? read.parse(text, format, { tokens: false }) : undefined;
    // A side that does not fit the lines around a conflict may fit with other words.
    if (isOpen && syntax === null) continue;
    const isLost =
      !isOpen &&
      isLanguage(format) &&
      syntax?.hasUndeclared === true &&
      usesLostName(regions, lines, format, read.parse);
    const defect = isLost ? LOST : findDefect(text);
    if (defect === null || (defect.kind === 'syntax' && isOpen)) continue;
    const disputed = reopenInvalid(defect, { regions, filled, text, lines });
    // Each round joins regions, so there is a last one.
    if (disputed.length === regions.length) return disputed;
    const anew = suspicionOf(disputed, lines, format, read.wordsIn).names;
    const all = names === null || anew === null ? null : new Set([...names, ...anew]);
    return reopen(disputed, { sides: ['ours', 'theirs'], names: all }, check);
  }
  return regions;
}

/** Returns the lines that may declare one of some names. */
function linesWith(
  names: ReadonlySet<string>,
  lines: readonly string[],
  wordsIn: WordsIn,
): readonly LineSpan[] {
  const wanted = [...names];
  const hasName = (line: string) =>
    wanted.some((name) => line.includes(name)) && wordsIn(line).some(({ name }) => names.has(name));
  return lines.flatMap((line, start) => (hasName(line) ? [{ start, end: start + 1 }] : []));
}
