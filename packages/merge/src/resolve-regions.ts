import { checkPlaces } from './checks/edits-in-wrong-declaration.ts';
import { usesLostName } from './checks/lost-names.ts';
import { type Suspicion, suspicionOf, wordReader } from './checks/needs-syntax-check.ts';
import { createCheck, reopen } from './checks/reopen-defects.ts';
import { findSolvable } from './checks/solvable-conflicts.ts';
import { openEntries } from './entries/entry-readers.ts';
import { resolveEntries } from './entries/merge-entries.ts';
import type { Interned } from './lines/interned-lines.ts';
import { mapVersions, NAMES } from './lines/lines.ts';
import type { LineSpan, Region } from './lines/regions.ts';
import { excerptOf, outlineOf } from './syntax/excerpt.ts';
import { type Format, isLanguage, type Language } from './syntax/language.ts';
import { memoizeParse, type Parse } from './syntax/parse.ts';
import { decodeLines, readSides, type Sides } from './syntax/parsed-side.ts';
import { resolveConflicts } from './syntax/resolve-conflicts.ts';
import type { Versions } from './versions.ts';

/** Longer texts are merged by lines alone: no input is slow. */
const MAX_LENGTH = 1 << 18;
/** More of each version, around the changes, is not checked by a parser. */
const MAX_PARSED = 1 << 17;
/** Nor resolved with one, which reads five texts and their tokens, where a check mostly reads one. */
const MAX_RESOLVED = 1 << 16;
/** Lines around a conflict that its answer may take in. */
const CONTEXT = 44;
/** Texts with more conflicts than this have little in common. */
const MAX_CONFLICTS = 200;

const OURS: Suspicion = { sides: ['ours'], names: null };
const BOTH: Suspicion = { sides: ['ours', 'theirs'], names: null };

type Lines = Versions<readonly string[]>;

/**
 * Resolves open conflicts by layout and syntax. Reopens clean regions that would put an edit into the wrong
 * declaration, and those whose result would declare a name twice, or no longer parse although both sides do.
 *
 * Regions that it cannot resolve stay unchanged.
 */
export function resolveRegions(
  aligned: readonly Region[],
  texts: Interned,
  lines: Lines,
  format: Format,
): readonly Region[] {
  const whole = { regions: aligned, texts, lines, parse: memoizeParse() };
  if (!isLanguage(format)) return resolveRead(whole, format);
  const excerpt = excerptOf(aligned, texts, lines, findSolvable(lines, format));
  if (excerpt.regions === aligned) return resolveRead(whole, format);
  // Null, too, where an answer would lose lines.
  const resolved = readStrictly(excerpt.lines, (parse) =>
    excerpt.restore(resolveRead({ ...excerpt, parse }, format)),
  );
  return resolved ?? resolveRead(whole, format);
}

/**
 * Tells whether a merge without open conflicts is consistent: it parses, has no name twice that no input has twice,
 * and each edit is in its own declaration. False for a text that is too long to read.
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
    const disputeMisplaced = checkPlaces(read.texts, read.lines, format, parse);
    const reader = { lines: read.lines, format, parse, wordsIn: wordReader() };
    const check = createCheck(reader);
    if (reopen(disputeMisplaced(read.regions), OURS, check) !== read.regions) return false;
    return !isLanguage(format) || !usesLostName(read.regions, read.lines, format, parse);
  };
  if (!isLanguage(format)) return holds(whole)(memoizeParse());
  const excerpt = excerptOf(regions, texts, lines);
  return readStrictly(excerpt.lines, holds(excerpt)) ?? readStrictly(lines, holds(whole)) ?? false;
}

function isShort(lines: Lines, format: Format): boolean {
  const limit = isLanguage(format) ? MAX_PARSED : MAX_LENGTH;
  return Object.values(lines).every((side) => lengthOf(side) <= limit);
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

type Solving = { readonly lines: Lines; readonly language: Language; readonly parse: Parse };

function resolveRead(whole: Read, format: Format): readonly Region[] {
  const { regions: aligned, texts, lines, parse } = whole;
  if (!isShort(lines, format)) return aligned;
  if (aligned.filter(isConflict).length > MAX_CONFLICTS) return aligned;
  const language = isLanguage(format) ? format : null;
  const isResolved =
    language !== null && Object.values(lines).every((side) => lengthOf(side) <= MAX_RESOLVED);
  const mayBeSolved = findSolvable(lines, format);
  const isSolvable = (region: Region) => isResolved && isConflict(region) && mayBeSolved(region);
  const disputeMisplaced = checkPlaces(texts, lines, format, parse);
  const regions = disputeMisplaced(aligned);
  const wordsIn = wordReader();
  const suspicion = suspicionOf(regions, lines, format, wordsIn);
  const entries = openEntries(texts, format);
  const check = createCheck({ lines, format, parse, wordsIn });
  const { budget } = check;
  const holds = (some: readonly Region[], suspicion: Suspicion) => {
    budget.isProposal = true;
    const isSame = reopen(some, suspicion, check) === some;
    budget.isProposal = false;
    return isSame && budget.left > 0;
  };
  if (language !== null && regions.some(isSolvable)) {
    const resolved = resolveSolvable(regions, isSolvable, { lines, language, parse });
    const isAnyResolved = resolved.some(({ kind }) => kind === 'resolved');
    // An insertion can be right for the lines around it, and wrong for the file.
    const suspected = resolved.some(isConflict)
      ? suspicion
      : { sides: OURS.sides, names: suspicionOf(resolved, lines, format, wordsIn).names };
    const hasNames = () =>
      resolved.some(isConflict) || !usesLostName(resolved, lines, language, parse);
    const isValid = () =>
      holds(resolved, suspected) && disputeMisplaced(resolved) === resolved && hasNames();
    if (isAnyResolved && isValid()) return resolved;
  }
  if (entries !== null) {
    const resolved = resolveEntries(regions, texts, entries);
    const suspected = resolved.some(isConflict) ? BOTH : OURS;
    if (resolved !== regions && holds(resolved, suspected)) return resolved;
  }
  return reopen(regions, suspicion, check);
}

/** Resolves with a parser that reads no more than what is around each conflict, and the heads of what that is in. */
function resolveSolvable(
  regions: readonly Region[],
  isSolvable: (region: Region) => boolean,
  { lines, language, parse }: Solving,
): readonly Region[] {
  const wanted = regions.filter(isSolvable);
  const outlines = mapVersions(NAMES, (name) =>
    outlineOf(
      lines[name],
      wanted.map(({ [name]: { start, end } }) => ({ start: start - CONTEXT, end: end + CONTEXT })),
    ),
  );
  const solve = (read: Sides | null) => resolveConflicts(regions, read, language, isSolvable);
  const sides = readSides(outlines, language, parse);
  const resolved = sides === null ? null : solve(sides);
  // An answer for more lines than a conflict has would be without those that were not read.
  const isRead = (region: Region) =>
    region.kind !== 'resolved' ||
    Object.values(NAMES).every((name) => isSame(outlines[name], lines[name], region[name]));
  return resolved?.every(isRead) ? resolved : solve(readSides(lines, language, parse));
}

function isSame(
  some: readonly string[],
  others: readonly string[],
  { start, end }: LineSpan,
): boolean {
  for (let line = start; line < end; line++) if (some[line] !== others[line]) return false;
  return true;
}

function isConflict({ kind }: Region): boolean {
  return kind === 'conflict';
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((length, line) => length + line.length, 0);
}
