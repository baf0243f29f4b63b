import type { Versions } from '../tree.ts';
import { reopenInvalid } from './checks/invalid-merge.ts';
import { usesLostImport } from './checks/lost-imports.ts';
import { checkPlaces } from './checks/misplaced.ts';
import { sidesToCheck } from './checks/needs-syntax-check.ts';
import { findSolvable } from './checks/solvable.ts';
import { resolveEntries } from './entries/merge-entries.ts';
import { entryReader } from './entries/reader.ts';
import { yamlParts } from './entries/yaml-parts.ts';
import type { Interned } from './lines/intern.ts';
import { mapVersions } from './lines/line-ends.ts';
import { linesOf } from './lines/region-lines.ts';
import type { Region } from './lines/regions.ts';
import { excerptOf } from './syntax/excerpt.ts';
import { inspectYaml } from './syntax/faults/keys.ts';
import { createDefectFinder, type Defect } from './syntax/faults/validate.ts';
import { type Format, isLanguage } from './syntax/language.ts';
import { resolveConflicts } from './syntax/levels.ts';
import { memoizeParse, type Parse } from './syntax/parse.ts';
import { decodeLines, readSides } from './syntax/side.ts';

/** Longer texts are merged by lines alone: no input is slow. */
const MAX_LENGTH = 1 << 18;
/** More of each version, around the changes, is not checked by a parser. */
const MAX_PARSED = 1 << 17;
/** Nor resolved with one, which reads five texts and their tokens, where a check mostly reads one. */
const MAX_RESOLVED = 1 << 16;
/**
 * Characters that the checks of one text read, the versions of it among them. Counted and not timed, so that the same
 * texts merge alike on every machine.
 */
const MAX_CHECKED = 5 << 17;
/** A text is read around its changes first where that is at most one part in so many. */
const MIN_CUT = 4;
/** Texts with more conflicts than this have little in common. */
const MAX_CONFLICTS = 200;

/** A merge that does not parse is a conflict, whatever the reason. */
const UNTOLD = () => null;
const BOTH_SIDES = ['ours', 'theirs'] as const;

type Lines = Versions<readonly string[]>;

/**
 * Resolves by layout and syntax what the merge by lines left open. Reopens clean regions that would put an
 * edit into another declaration than its own, and those whose result would declare a name twice, or no longer
 * parse although both sides do.
 *
 * Returns unchanged the regions that it has no answer for.
 */
export function resolveRegions(
  aligned: readonly Region[],
  texts: Interned,
  lines: Lines,
  format: Format,
): readonly Region[] {
  const whole = { regions: aligned, texts, lines, parse: memoizeParse() };
  if (format === 'yaml' && isSoundYaml(aligned, texts, lines)) return aligned;
  if (!isLanguage(format)) return resolveRead(whole, format);
  const excerpt = excerptOf(aligned, texts, lines, { isSolvable: findSolvable(lines) });
  if (excerpt.regions === aligned) return resolveRead(whole, format);
  // Null, too, where an answer would lose lines.
  const resolved = readStrictly(excerpt.lines, (parse) =>
    excerpt.restore(resolveRead({ ...excerpt, parse }, format)),
  );
  return resolved ?? resolveRead(whole, format);
}

/**
 * Tells whether a merge without open conflicts holds together: it parses, says no name twice that no input has
 * twice, and each edit is in its own declaration. False for a text too long to be read.
 */
export function isSound(
  regions: readonly Region[],
  texts: Interned,
  lines: Lines,
  format: Format | null,
): boolean {
  if (format === null) return true;
  const whole = { regions, texts, lines };
  const holds = (read: Omit<Read, 'parse'>) => (parse: Parse) => {
    if (!isShort(read.lines, format)) return false;
    const readInputs = () => mapVersions(read.lines, decodeLines);
    const findDefect = createDefectFinder(format, readInputs, parse, UNTOLD);
    const disputeMisplaced = checkPlaces(read.texts, read.lines, format, parse);
    const isFine = (some: readonly Region[]) => format === 'yaml' && isFineYaml(some, read);
    const check = { lines: read.lines, findDefect, isFine, budget: { left: MAX_CHECKED } };
    if (reopen(disputeMisplaced(read.regions), ['ours'], check) !== read.regions) return false;
    return !isLanguage(format) || !usesLostImport(mergedLines(read), read.lines, format, parse);
  };
  if (!isLanguage(format)) return holds(whole)(memoizeParse());
  const excerpt = excerptOf(regions, texts, lines);
  return readStrictly(excerpt.lines, holds(excerpt)) ?? readStrictly(lines, holds(whole)) ?? false;
}

function isShort(lines: Lines, format: Format): boolean {
  const limit = isLanguage(format) ? MAX_PARSED : MAX_LENGTH;
  return Object.values(lines).every((side) => lengthOf(side) <= limit);
}

/** Tells whether a clean merge has no defect around its changes; one that is found there can be the cut's. */
function isSoundYaml(aligned: readonly Region[], texts: Interned, lines: Lines): boolean {
  if (aligned.some(isConflict) || !isShort(lines, 'yaml')) return false;
  const excerpt = excerptOf(aligned, texts, lines, { partsOf: yamlParts });
  const isCut = excerpt.regions !== aligned;
  return isCut && resolveRead({ ...excerpt, parse: memoizeParse() }, 'yaml') === excerpt.regions;
}

/** Tells whether a merge has no fault and no name twice around its changes; false where that is much of it. */
function isFineYaml(regions: readonly Region[], { texts, lines }: Omit<Read, 'parse'>): boolean {
  const excerpt = excerptOf(regions, texts, lines, { partsOf: yamlParts });
  if (excerpt.lines.base.length * MIN_CUT > lines.base.length) return false;
  const { fault, duplicates } = inspectYaml(decodeLines(mergedLines(excerpt)));
  return fault === null && duplicates.length === 0;
}

/**
 * Reads with a parser; null where one of the versions does not parse, as with an excerpt that was cut in the wrong
 * place. A merged text that does not parse although they do is a finding.
 */
function readStrictly<T>(lines: Lines, read: (parse: Parse) => T): T | null {
  const all = memoizeParse();
  const unread = new Error('a version that does not parse');
  try {
    return read((...args) => {
      const syntax = all(...args);
      const isVersion = () => Object.values(lines).some((side) => decodeLines(side) === args[0]);
      // Nothing that is found after this counts, so it is not looked for.
      if (syntax === null && isVersion()) throw unread;
      return syntax;
    });
  } catch (error) {
    if (error === unread) return null;
    throw error;
  }
}

/** A text, whole or in excerpts, and its reader. */
type Read = {
  readonly regions: readonly Region[];
  readonly texts: Interned;
  readonly lines: Lines;
  readonly parse: Parse;
};

function resolveRead(whole: Read, format: Format): readonly Region[] {
  const { regions: aligned, texts, lines, parse } = whole;
  if (!isShort(lines, format)) return aligned;
  if (aligned.filter(isConflict).length > MAX_CONFLICTS) return aligned;
  const language = isLanguage(format) ? format : null;
  const read = () => (language === null ? null : readSides(lines, language, parse));
  // Reads the sides with their tokens first where a conflict needs them: the checks below reuse that parse.
  const isResolved = Object.values(lines).every((side) => lengthOf(side) <= MAX_RESOLVED);
  const mayBeSolved = findSolvable(lines);
  const isSolvable = (region: Region) => isResolved && isConflict(region) && mayBeSolved(region);
  const sides = aligned.some(isSolvable) ? read() : null;
  const disputeMisplaced = checkPlaces(texts, lines, format, parse);
  const regions = disputeMisplaced(aligned);
  const suspectSides = sidesToCheck(regions, lines, format);
  const budget = { left: MAX_CHECKED, isProposal: false };
  const readInputs = () => {
    for (const side of Object.values(lines)) budget.left -= lengthOf(side);
    // A proposal counts for nothing once the budget is spent.
    return budget.isProposal && budget.left <= 0 ? null : mapVersions(lines, decodeLines);
  };
  const findDefect = createDefectFinder(format, readInputs, parse, UNTOLD);
  const isFine = (some: readonly Region[]) => format === 'yaml' && isFineYaml(some, whole);
  const check = { lines, findDefect, isFine, budget };
  const holds = (some: readonly Region[], sides: readonly ('ours' | 'theirs')[]) => {
    budget.isProposal = true;
    const isSame = reopen(some, sides, check) === some;
    budget.isProposal = false;
    return isSame && budget.left > 0;
  };
  if (language !== null && regions.some(isSolvable)) {
    const resolved = resolveConflicts(regions, sides ?? read(), language, isSolvable);
    const isAnyResolved = resolved.some(({ kind }) => kind === 'resolved');
    // An insertion can be right for the lines around it, and wrong for the file.
    const checkedSides = resolved.some(isConflict) ? suspectSides : (['ours'] as const);
    const hasImports = () =>
      resolved.some(isConflict) ||
      !usesLostImport(mergedLines({ regions: resolved, lines }), lines, language, parse);
    const isValid = () =>
      holds(resolved, checkedSides) && disputeMisplaced(resolved) === resolved && hasImports();
    if (isAnyResolved && isValid()) return resolved;
  }
  const reader = entryReader(format);
  if (reader !== null) {
    const resolved = resolveEntries(regions, lines, reader);
    const sides = resolved.some(isConflict) ? BOTH_SIDES : (['ours'] as const);
    if (resolved !== regions && holds(resolved, sides)) return resolved;
  }
  return reopen(regions, suspectSides, check);
}

type DefectCheck = {
  readonly lines: Lines;
  readonly findDefect: (merged: string) => Defect | null;
  /** Tells that there is no defect, where that takes less than to look for one; else false. */
  readonly isFine: (regions: readonly Region[]) => boolean;
  /** The characters that may still be read. */
  readonly budget: { left: number };
};

/**
 * Returns the regions, in dispute where a defect is brought in when conflicts are decided for one of the
 * sides. Once the budget is spent nothing more is looked for; what was found stays in dispute.
 */
function reopen(
  regions: readonly Region[],
  sides: readonly ('ours' | 'theirs')[],
  check: DefectCheck,
): readonly Region[] {
  const { lines, findDefect, isFine, budget } = check;
  const isOpen = regions.some(isConflict);
  for (const side of sides) {
    if (budget.left <= 0) return regions;
    const filled = regions.map(
      (region): Region => (isConflict(region) ? { ...region, kind: side } : region),
    );
    if (isFine(filled)) continue;
    const merged = decodeLines(filled.flatMap((region) => linesOf(region, lines)));
    budget.left -= merged.length;
    const defect = findDefect(merged);
    // A side that does not fit the lines around a conflict may fit with other words.
    if (defect === null || (defect.kind === 'syntax' && isOpen)) continue;
    const disputed = reopenInvalid(defect, { regions, filled, lines });
    // Each round joins regions, so there is a last one.
    return disputed.length < regions.length ? reopen(disputed, BOTH_SIDES, check) : disputed;
  }
  return regions;
}

function mergedLines({ regions, lines }: Pick<Read, 'regions' | 'lines'>): readonly string[] {
  return regions.flatMap((region) => linesOf(region, lines));
}

function isConflict({ kind }: Region): boolean {
  return kind === 'conflict';
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((length, line) => length + line.length, 0);
}
