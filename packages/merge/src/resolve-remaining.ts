import { keepsImports, resolveImports } from './imports/merge-imports.ts';
import { mergeAdjacent } from './lines/adjacent-lines.ts';
import { sideWithAllWords } from './lines/contained-words.ts';
import { partInsertion } from './lines/insert-beside-change.ts';
import type { Interned } from './lines/interned-lines.ts';
import { contentOf, mapVersions, NAMES } from './lines/lines.ts';
import type { Region, Rule } from './lines/regions.ts';
import { findMissed, type IsMissed } from './lines/related-lines.ts';
import { mergeSorted } from './lines/sorted-lines.ts';
import { findLiterals, mergeSpace } from './merge-space.ts';
import { type Format, isLanguage } from './syntax/language.ts';
import type { Versions } from './versions.ts';

type Lines = Versions<readonly string[]>;

/**
 * Resolves all remaining conflicts: imports, by their names; conflicts in which one side made every change of the
 * other, word by word, or changed only white space; changes of two neighbouring lines; changes of sorted lines;
 * insertions beside a changed line. It resolves all or none, because a text with gaps cannot be checked.
 *
 * @returns null where a conflict is left, or there was none
 */
export function resolveRest(
  regions: readonly Region[],
  texts: Interned,
  lines: Lines,
  format: Format | null,
): readonly Region[] | null {
  const isKnown = (line: string) => texts.base.includes(texts.numbers.get(line) ?? -1);
  const isText = findTexts(lines);
  const text = { format, isText, isKnown, isMissed: findMissed(lines) };
  // In a text for people what is put in goes on from the line beside it.
  const partsOf = (region: Region) =>
    format === 'markdown' ? null : partInsertion(region, texts, lines, text.isMissed);
  const resolveAll = (some: readonly Region[]) => {
    const resolved: Region[] = [];
    for (const region of some) {
      const answer = region.kind === 'conflict' ? answerFor(region, lines, text) : region;
      const parts = answer === null ? partsOf(region) : [answer];
      if (parts === null) return null;
      resolved.push(...parts);
    }
    return resolved;
  };
  if (!regions.some(({ kind }) => kind === 'conflict')) return null;
  if (format !== null && format !== 'json' && isLanguage(format)) {
    const some = resolveImports(regions, lines);
    const resolved = some === regions ? null : resolveAll(some);
    if (resolved !== null && keepsImports(resolved, lines)) return resolved;
  }
  return resolveAll(regions);
}

/** Tells whether a stretch may be within a text over several lines, in which all space counts. */
type IsText = (place: Versions<{ readonly start: number }>) => boolean;

type Text = {
  readonly format: Format | null;
  readonly isText: IsText;
  /** Tells whether the base has a line. */
  readonly isKnown: (line: string) => boolean;
  readonly isMissed: IsMissed;
};

function answerFor(
  { base, ours, theirs }: Region,
  lines: Lines,
  { format, isText, isKnown, isMissed }: Text,
): Region | null {
  const place = { base, ours, theirs };
  const said = mapVersions(NAMES, (name) =>
    lines[name].slice(place[name].start, place[name].end).map(contentOf),
  );
  const kind = sideWithAllWords(said);
  if (kind !== null) return { ...place, kind, rule: 'contained' };
  // Blocks of text in YAML, and steps of which each is told by several lines.
  if (format === 'yaml') return null;
  const answers: readonly [Rule, (said: Lines) => readonly string[] | null][] = [
    ['space', mergeSpace],
    ['adjacent', (some) => (format === 'markdown' ? null : mergeAdjacent(some, isKnown, isMissed))],
    ['sorted', () => (format === 'markdown' ? null : mergeSorted(place, lines, isMissed))],
  ];
  for (const [rule, merge] of answers) {
    const merged = merge(said);
    // To know where texts are takes the whole file, so it is asked last.
    if (merged !== null && (rule !== 'space' || !isText(place)))
      return { ...place, kind: 'resolved', rule, lines: merged };
  }
  return null;
}

function findTexts({ base, ours }: Lines): IsText {
  const [isInBase, isInOurs] = [findLiterals(base), findLiterals(ours)];
  return (place) => isInBase(place.base.start) || isInOurs(place.ours.start);
}
