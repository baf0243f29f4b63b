import { contentOf, mapVersions, NAMES } from '../lines/lines.ts';
import { type LineSpan, linesOf, type Region } from '../lines/regions.ts';
import { findLiterals } from '../merge-space.ts';
import type { Versions } from '../versions.ts';
import { findImports, type ImportStatement, readImport } from './import-statements.ts';
import {
  type Imports,
  type Item,
  mergeAll,
  mergeValue,
  namesOf,
  putInOrder,
  type Read,
} from './merge-imported-names.ts';

type Lines = Versions<readonly string[]>;

const COMMENT = /^\s*(?:\/\/|\/?\*)|\*\/\s*$/;
const GOES_ON = /^\s*[([`/+-]/;
const SIDES = [
  ['ours', 'theirs'],
  ['theirs', 'ours'],
] as const;

/** A line that can be a part of an import. */
const MAY_BE =
  /^\s*(?:$|import\b|(?:const|let|var)\s.*(?:\brequire\(|\{)|(?:type\s+)?[\w$]+(?:\s+as\s+[\w$]+|\s*:\s*[\w$]+)?\s*(?:,|$)|\}\s*(?:from\b|=\s*require\b))/;

/** Texts with more conflicts are not merged by their imports. */
const MAX_CONFLICTS = 30;

/** Lines that one stretch may have: more are no list of imports. */
const MAX_LINES = 400;

/** The facts about the lines of one version. */
type Placed = {
  /** 1 for each place between two lines that is within an import. */
  readonly within: Uint8Array;
  /** 1 for each line that is part of an import, or blank. */
  readonly isImport: Uint8Array;
  readonly imports: readonly ImportStatement[];
  /** Tells whether a line may be within a text or a comment over several lines. */
  readonly isText: (line: number) => boolean;
  /** Counts how often a word stands in the text. */
  readonly countOf: (word: string) => number;
};

/**
 * Resolves conflicts among imports by the names that each version takes of each module: what one side added is added,
 * what one side took out is gone. Imports of one module are one, wherever the sides put them.
 *
 * A conflict stays where both sides changed one name, where one side took a module out of which the other one takes
 * more or which it uses anew, where both took one out and one brings another, where one name would come from two modules,
 * and where the order may have a meaning.
 */
export function resolveImports(regions: readonly Region[], lines: Lines): readonly Region[] {
  const count = regions.filter(isConflict).length;
  if (count === 0 || count > MAX_CONFLICTS) return regions;
  let placed: Versions<Placed> | undefined;
  let result = regions;
  for (let index = 0; index < result.length; index++) {
    const region = result[index];
    if (region === undefined || !isConflict(region)) continue;
    if (!mayBeImports(region, lines)) continue;
    const versions = placed ?? mapVersions(lines, placeImports);
    placed = versions;
    if (Object.values(NAMES).some((name) => versions[name].isText(region[name].start))) continue;
    const found =
      solve(result, index, lines, versions, false) ?? solve(result, index, lines, versions, true);
    if (found === null) continue;
    result = [...found.above, found.region, ...found.below];
    index = found.above.length;
  }
  return result;
}

const WORD = /[\w$]+/g;

function placeImports(lines: readonly string[]): Placed {
  const said = lines.map(contentOf);
  const within = new Uint8Array(lines.length + 1);
  const isImport = Uint8Array.from(said, (line) => (line.trim() === '' ? 1 : 0));
  const imports: ImportStatement[] = [];
  for (const { start, end } of findImports(said)) {
    within.fill(1, start + 1, end);
    isImport.fill(1, start, end);
    const one = readImport(said.slice(start, end));
    if (one !== null) imports.push(one);
  }
  return { within, isImport, imports, isText: findTexts(lines), countOf: wordCounter(lines) };
}

function findTexts(lines: readonly string[]): (line: number) => boolean {
  const isLiteral = findLiterals(lines);
  let known: Uint8Array | null = null;
  return (line) => {
    known ??= commentsIn(lines);
    return known[line] === 1 || isLiteral(line);
  };
}

/** Tells of each line whether a comment that began above it has not ended there. */
function commentsIn(lines: readonly string[]): Uint8Array {
  const known = new Uint8Array(lines.length + 1);
  let isOpen = false;
  for (const [line, text] of lines.entries()) {
    known[line] = isOpen ? 1 : 0;
    const [begin, end] = [text.lastIndexOf('/*'), text.lastIndexOf('*/')];
    if (begin !== end) isOpen = begin > end;
  }
  known[lines.length] = isOpen ? 1 : 0;
  return known;
}

function wordCounter(lines: readonly string[]): (word: string) => number {
  let known: Map<string, number> | null = null;
  return (word) => {
    if (known === null) {
      known = new Map();
      for (const line of lines) {
        for (const one of line.match(WORD) ?? []) known.set(one, (known.get(one) ?? 0) + 1);
      }
    }
    return known.get(word) ?? 0;
  };
}

type Stretch = {
  readonly above: readonly Region[];
  readonly region: Region;
  readonly below: readonly Region[];
};

/**
 * Widens a conflict until it begins and ends between imports in all versions, or has all that are around it. Null where it
 * cannot.
 */
function stretchAround(
  regions: readonly Region[],
  index: number,
  placed: Versions<Placed>,
  isWide: boolean,
): Stretch | null {
  const region = regions[index];
  if (region === undefined) return null;
  const names = Object.values(NAMES);
  const ranges = mapVersions(NAMES, (name) => ({ ...region[name] }));
  const areImports = (some: Versions<LineSpan>) =>
    names.every(
      (name) => !placed[name].isImport.subarray(some[name].start, some[name].end).includes(0),
    );
  const [above, below] = [regions.slice(0, index), regions.slice(index + 1)];
  const isWithin = (edge: 'start' | 'end') =>
    names.some((name) => placed[name].within[ranges[name][edge]] === 1);
  const grow = (edge: 'start' | 'end', beside: Region[]) => {
    for (let moved = 0; moved < MAX_LINES && (isWide || isWithin(edge)); moved++) {
      const next = beside.at(edge === 'start' ? -1 : 0);
      if (next === undefined || next.kind === 'resolved') return;
      // Of what is agreed some lines may be imports.
      const isLine = next.kind === 'all' && next.base.end - next.base.start > 1;
      const taken = isLine ? mapVersions(NAMES, (name) => lineAt(next[name], edge)) : next;
      if (!areImports(taken)) return;
      for (const name of names) ranges[name][edge] = taken[name][edge];
      if (isLine) beside[edge === 'start' ? beside.length - 1 : 0] = without(next, edge);
      else if (edge === 'start') beside.pop();
      else beside.shift();
    }
  };
  grow('start', above);
  grow('end', below);
  if (isWithin('start') || isWithin('end')) return null;
  return { above, region: { kind: 'conflict', ...ranges }, below };
}

/** Returns the line of a region that is beside a stretch which begins or ends there. */
function lineAt({ start, end }: LineSpan, edge: 'start' | 'end'): LineSpan {
  return edge === 'start' ? { start: end - 1, end } : { start, end: start + 1 };
}

/** Returns an agreed region without its line beside a stretch that grew at one edge. */
function without(region: Region, edge: 'start' | 'end'): Region {
  const cut = mapVersions(NAMES, (name) => {
    const { start, end } = region[name];
    return edge === 'start' ? { start, end: end - 1 } : { start: start + 1, end };
  });
  return { ...region, ...cut };
}

/**
 * Tells whether the imports of a whole merge are those that the sides want: each name from where one side took it, if the
 * other one left it. What a side moved to another place of the text is not seen where it was.
 */
export function keepsImports(regions: readonly Region[], lines: Lines): boolean {
  const merged = originsIn(regions.flatMap((region) => linesOf(region, lines)));
  const { base, ours, theirs } = mapVersions(lines, originsIn);
  return [...new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])].every(
    (name) => mergeValue(base.get(name), ours.get(name), theirs.get(name)) === merged.get(name),
  );
}

/** Returns from where each imported name comes; what is only run comes from itself. */
function originsIn(lines: readonly string[]): ReadonlyMap<string, string> {
  return originsOf(placeImports(lines).imports.map((one) => [one.key, one]));
}

function originsOf(
  imports: Iterable<readonly [string, ImportStatement]>,
): ReadonlyMap<string, string> {
  const all = [...imports].flatMap(([key, one]) => {
    const names = namesOf(one);
    if (names.length === 0) return [[key, key] as const];
    return names.map((name) => [name, `${key} ${one.names?.get(name)}`] as const);
  });
  return new Map(all);
}

/** Resolves a conflict with what is around it: the imports that it cuts, or all that are there. */
function solve(
  regions: readonly Region[],
  index: number,
  lines: Lines,
  placed: Versions<Placed>,
  isWide: boolean,
): Stretch | null {
  const stretch = stretchAround(regions, index, placed, isWide);
  const merged = stretch && mergeStretch(stretch.region, lines, placed);
  if (stretch === null || merged === null) return null;
  const region: Region = { ...stretch.region, kind: 'resolved', lines: merged, rule: 'imports' };
  return { ...stretch, region };
}

/**
 * Tells whether one side took out a name, or left only its type, that the other side uses more often than the base: where
 * no parser tells, as in JSX.
 */
function usesMore(imports: Versions<Imports>, placed: Versions<Placed>): boolean {
  const origins = mapVersions(imports, originsOf);
  return SIDES.some(([side, other]) => {
    const lost = [...origins.base].filter(
      ([name, origin]) => isValue(origin) && !isValue(origins[side].get(name)),
    );
    return lost.some(([name]) => placed[other].countOf(name) > placed.base.countOf(name));
  });
}

/** Tells whether what is imported is more than a type. */
function isValue(origin: string | undefined): boolean {
  return origin !== undefined && !/^type | type /.test(origin);
}

function isConflict({ kind }: Region): boolean {
  return kind === 'conflict';
}

/** Tells whether the lines of a conflict can be parts of imports. */
function mayBeImports(region: Region, lines: Lines): boolean {
  return Object.values(NAMES).every((name) =>
    lines[name].slice(region[name].start, region[name].end).every((line) => MAY_BE.test(line)),
  );
}

function mergeStretch(
  region: Versions<LineSpan>,
  lines: Lines,
  placed: Versions<Placed>,
): readonly string[] | null {
  const said = mapVersions(NAMES, (name) =>
    lines[name].slice(region[name].start, region[name].end).map(contentOf),
  );
  if (Object.values(said).some(({ length }) => length > MAX_LINES)) return null;
  const { base, ours, theirs } = mapVersions(said, readAll);
  if (base === null || ours === null || theirs === null) return null;
  const imports = { base: base.imports, ours: ours.imports, theirs: theirs.imports };
  // What one side put in may come from another part of the base, where the other side took it out.
  const isElsewhere = placed.base.imports.some(
    ({ key }) => !base.imports.has(key) && (ours.imports.has(key) || theirs.imports.has(key)),
  );
  if (isElsewhere || usesMore(imports, placed)) return null;
  const merged = mergeAll(imports);
  if (merged === null) return null;
  const isBelowComment = Object.values(NAMES).some((name) =>
    COMMENT.test(lines[name][region[name].start - 1] ?? ''),
  );
  const result = putInOrder(merged, imports, { ours, theirs }, isBelowComment);
  return result !== null && goesOn(result, region, lines) ? null : result;
}

/** Tells whether a last line without a semicolon may go on with what is below the stretch. */
function goesOn(result: readonly string[], region: Versions<LineSpan>, lines: Lines): boolean {
  const last = result.findLast((line) => line.trim() !== '')?.trimEnd() ?? ';';
  const isOpen = Object.values(NAMES).some((name) =>
    GOES_ON.test(lines[name].slice(region[name].end).find((line) => line.trim() !== '') ?? ''),
  );
  return isOpen && !last.endsWith(';');
}

/** Reads lines that are imports and blank ones; null where there is anything else, or one module twice. */
function readAll(lines: readonly string[]): Read | null {
  const items: Item[] = [];
  const imports = new Map<string, ImportStatement>();
  let from = 0;
  for (const { start, end } of findImports(lines)) {
    const one = readImport(lines.slice(start, end));
    if (one === null || imports.has(one.key) || !isBlank(lines.slice(from, start))) return null;
    for (const line of lines.slice(from, start)) items.push({ key: null, lines: [line] });
    imports.set(one.key, one);
    items.push({ key: one.key, lines: one.lines });
    from = end;
  }
  if (!isBlank(lines.slice(from))) return null;
  for (const line of lines.slice(from)) items.push({ key: null, lines: [line] });
  return { items, imports };
}

function isBlank(lines: readonly string[]): boolean {
  return lines.every((line) => line.trim() === '');
}
