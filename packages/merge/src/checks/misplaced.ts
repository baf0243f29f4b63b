import type { Interned } from '../lines/intern.ts';
import { mapVersions } from '../lines/lines.ts';
import { linesOf, type Range, type Region } from '../lines/regions.ts';
import { declarationsIn } from '../syntax/declarations.ts';
import { type Format, isLanguage, type Language } from '../syntax/language.ts';
import type { Parse } from '../syntax/parse.ts';
import { decodeLines } from '../syntax/side.ts';
import type { Versions } from '../tree.ts';
import { joinRegions } from './invalid-merge.ts';
import { type Declared, type Names, namesByLines } from './names-by-lines.ts';
import { mayBeMisplaced } from './owners.ts';

/** Makes conflicts of what changed a declaration that its side did not change. */
export type PlaceCheck = (regions: readonly Region[]) => readonly Region[];

/**
 * Makes a check that every declaration of a merged program is, by its name, what the sides made of it. A
 * declaration that one side changed must be that side's; one that both changed must not be the base's.
 *
 * Anything else means that an edit landed in another declaration: the regions from there to its own become
 * one conflict. Declarations may move: they are compared by name, at the top level and in classes.
 *
 * A program that cannot be parsed is not checked, nor is a name within an open conflict.
 */
export function checkPlaces(
  texts: Interned,
  lines: Versions<readonly string[]>,
  format: Format,
  parse: Parse,
): PlaceCheck {
  if (!isLanguage(format) || format === 'json') return (regions) => regions;
  const namesIn = (text: readonly string[]) => readNames(decodeLines(text), parse, format);
  let known: Versions<Names | null> | null = null;
  const check: PlaceCheck = (regions) => {
    if (!mayBeMisplaced(regions, texts, lines)) return regions;
    const result = regions.flatMap((region) => linesOf(region, lines));
    if (isPlacedByLines(result, lines)) return regions;
    const merged = namesIn(result);
    if (merged === null) return regions;
    known ??= mapVersions(lines, namesIn);
    const { base, ours, theirs } = known;
    if (base === null || ours === null || theirs === null) return regions;
    const versions = { base, ours, theirs };
    const stretches = misplacedNames({ ...versions, merged }).flatMap((name) => {
      const touched = touchedBy(name, { ...versions, merged }, regions, lines);
      return touched === null ? [] : [touched];
    });
    return stretches.length === 0 ? regions : check(joinRegions(regions, stretches));
  };
  return check;
}

/** Tells whether each declaration is what the sides made of it, as far as lines and brackets tell. */
function isPlacedByLines(result: readonly string[], lines: Versions<readonly string[]>): boolean {
  const merged = namesByLines(result);
  const { base, ours, theirs } = mapVersions(lines, namesByLines);
  if (merged === null || base === null || ours === null || theirs === null) return false;
  return misplacedNames({ base, ours, theirs, merged }).length === 0;
}

function readNames(text: string, parse: Parse, language: Language): Names | null {
  const syntax = parse(text, language, { tokens: false });
  if (syntax === null) return null;
  const starts = lineStarts(text);
  const names = new Map<string, Declared>();
  for (const { name, start, end } of declarationsIn(syntax.root, text)) {
    const before = names.get(name);
    const range = { start: lineAt(starts, start), end: lineAt(starts, end - 1) + 1 };
    names.set(name, {
      // Overloads, and a type with a value of its name, count as one.
      text: `${before?.text ?? ''}${text.slice(start, end)}\n`,
      lines: [...(before?.lines ?? []), range],
    });
  }
  return names;
}

type Read = Versions<Names> & { readonly merged: Names };

function misplacedNames(read: Read): readonly string[] {
  const texts = Object.values(read);
  const names = new Set(texts.flatMap((some) => [...some.keys()]));
  return [...names].filter((name) => {
    const [head = name, member] = name.split('.');
    // A class that a side renamed takes its members along.
    if (member !== undefined && !texts.every((some) => some.has(head))) return false;
    const [base, ours, theirs, merged] = [read.base, read.ours, read.theirs, read.merged].map(
      (some) => some.get(name)?.text,
    );
    if (ours === theirs) return merged !== ours;
    if (theirs === base) return merged !== ours && !isRenamed(name, 'ours', read);
    if (ours === base) return merged !== theirs && !isRenamed(name, 'theirs', read);
    return merged === base;
  });
}

/**
 * Tells whether what the other side did within a name that one side added can be right: that side then renamed
 * or wrapped what the other one edited. Not where an edit of the other side is missing elsewhere.
 */
function isRenamed(name: string, side: 'ours' | 'theirs', read: Read): boolean {
  if (read.base.has(name)) return false;
  const other = read[side === 'ours' ? 'theirs' : 'ours'];
  return [...read.merged].every(([kept, { text }]) => {
    const [before, edited] = [read.base.get(kept)?.text, other.get(kept)?.text];
    const isEdited = before !== undefined && edited !== undefined && edited !== before;
    return !isEdited || edited === text || read[side].get(kept)?.text !== text;
  });
}

/** Returns the regions from the first to the last change in any version of a name; null where one is open. */
function touchedBy(
  name: string,
  read: Read,
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): Range | null {
  let length = 0;
  const touched: number[] = [];
  for (const [index, region] of regions.entries()) {
    const merged = { start: length, end: length + linesOf(region, lines).length };
    length = merged.end;
    if (region.kind === 'all') continue;
    const isIn = (range: Range, some: Names) =>
      some.get(name)?.lines.some(({ start, end }) => range.start <= end && range.end >= start) ===
      true;
    const isTouched =
      isIn(merged, read.merged) ||
      isIn(region.base, read.base) ||
      isIn(region.ours, read.ours) ||
      isIn(region.theirs, read.theirs);
    if (!isTouched) continue;
    if (region.kind === 'conflict') return null;
    touched.push(index);
  }
  if (touched.length === 0) return null;
  return { start: Math.min(...touched), end: Math.max(...touched) + 1 };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
