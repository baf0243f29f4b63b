import { contentOf, mapVersions, NAMES } from '../lines/lines.ts';
import type { Range, Region } from '../lines/regions.ts';
import { findLiterals } from '../merge-space.ts';
import type { Versions } from '../tree.ts';
import { findImports, type ImportStatement, readImport } from './statements.ts';

/** Lines that one stretch may have: more are no list of imports. */
export const MAX_LINES = 400;

/** What is known of the lines of a version. */
export type Placed = {
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

const WORD = /[\w$]+/g;

export function placeImports(lines: readonly string[]): Placed {
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

export type Stretch = {
  readonly above: readonly Region[];
  readonly region: Region;
  readonly below: readonly Region[];
};

/**
 * Widens a conflict until it begins and ends between imports in all versions, or has all that are around it. Null where it
 * cannot.
 */
export function stretchAround(
  regions: readonly Region[],
  index: number,
  placed: Versions<Placed>,
  isWide: boolean,
): Stretch | null {
  const region = regions[index];
  if (region === undefined) return null;
  const names = Object.values(NAMES);
  const ranges = mapVersions(NAMES, (name) => ({ ...region[name] }));
  const areImports = (some: Versions<Range>) =>
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
function lineAt({ start, end }: Range, edge: 'start' | 'end'): Range {
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
