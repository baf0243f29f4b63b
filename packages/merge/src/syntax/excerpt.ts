import { at, type Interned } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import type { LineSpan, Region } from '../lines/regions.ts';
import type { Versions } from '../versions.ts';
import { type Bracket, type Nesting, readNesting } from './nesting.ts';

type Lines = Versions<readonly string[]>;

/** A merge without most of the text on which all three versions agree, and the way back. */
export type Excerpt = {
  readonly regions: readonly Region[];
  readonly texts: Interned;
  readonly lines: Lines;
  /** Returns regions of the excerpt as those of the whole texts; null where an answer would lose lines. */
  readonly restore: (regions: readonly Region[]) => readonly Region[] | null;
};

/** Agreed lines that stay beside a conflict that may be resolved: its stretch may grow by some. */
const CONTEXT = 44;
/** Agreed lines beside any other change. */
const NEAR = 2;
/** Shorter agreed stretches are not worth a cut. */
const MIN_CUT = 8;

/** Finds the parts of a stretch of lines that are whole statements or members. */
type FindParts = (stretch: LineSpan) => readonly LineSpan[];

/**
 * Leaves out whole statements and members that are the same in all three versions, so that a parser reads only the
 * surroundings of the changes.
 *
 * Names in the omitted parts are the same in all versions: they cause no new clash and do not move. The first line
 * that tells a module from a script stays.
 */
export function excerptOf(
  regions: readonly Region[],
  texts: Interned,
  lines: Lines,
  isSolvable: (region: Region) => boolean = () => true,
): Excerpt {
  const module = moduleLine(lines.base);
  let findParts: FindParts | null = null;
  const cuts = regions.flatMap(({ kind, base, ours, theirs }, index): Versions<LineSpan>[] => {
    if (kind !== 'all') return [];
    const start = base.start + contextBeside(regions[index - 1], isSolvable);
    const end = base.end - contextBeside(regions[index + 1], isSolvable);
    if (end - start < MIN_CUT) return [];
    const shift = { base: 0, ours: ours.start - base.start, theirs: theirs.start - base.start };
    findParts ??= createPartFinder(lines.base);
    return findParts({ start, end })
      .filter((part) => part.end - part.start >= MIN_CUT)
      .flatMap((part) => withoutLine(part, module))
      .map((part) => mapVersions(shift, (by) => ({ start: part.start + by, end: part.end + by })));
  });
  if (cuts.length === 0) return { regions, texts, lines, restore: (same) => same };
  const shorter = mapVersions(NAMES, (name) => lineShift(cuts.map((cut) => cut[name])));
  const kept = mapVersions(NAMES, (name) => keptLines(lines[name].length, cuts, name));
  return {
    regions: regions.flatMap((region) => {
      const ranges = mapVersions(NAMES, (name) => mapRange(region[name], shorter[name].toShort));
      const isGone = region.kind === 'all' && ranges.base.start === ranges.base.end;
      return isGone ? [] : [{ ...region, ...ranges }];
    }),
    texts: {
      ...texts,
      ...mapVersions(NAMES, (name) => kept[name].map((line) => texts[name][line] ?? 0)),
    },
    lines: mapVersions(NAMES, (name) => Array.from(kept[name], (line) => lines[name][line] ?? '')),
    restore: (some) => {
      const last = some.length - 1;
      const whole = some.map((region, index): Region => {
        const ranges = mapVersions(NAMES, (name) => {
          const { start, end } = mapRange(region[name], shorter[name].toWhole);
          return { start, end: index === last ? lines[name].length : end };
        });
        return { ...region, ...ranges };
      });
      // The lines of an answer hold nothing of what was left out within it.
      const isWhole = whole.every(
        (region, index) => region.kind !== 'resolved' || isAsLong(region, some[index]),
      );
      return isWhole ? whole : null;
    },
  };
}

function contextBeside(
  region: Region | undefined,
  isSolvable: (region: Region) => boolean,
): number {
  if (region === undefined) return 0;
  return region.kind === 'conflict' && isSolvable(region) ? CONTEXT : NEAR;
}

/** A part may hold more than the one line that must stay: all of it does. */
function withoutLine(part: LineSpan, line: number): readonly LineSpan[] {
  return part.start <= line && line < part.end ? [] : [part];
}

function keptLines(length: number, cuts: readonly Versions<LineSpan>[], name: keyof Lines) {
  const kept: number[] = [];
  let from = 0;
  for (const { [name]: cut } of cuts) {
    for (let line = from; line < cut.start; line++) kept.push(line);
    from = cut.end;
  }
  for (let line = from; line < length; line++) kept.push(line);
  return Int32Array.from(kept);
}

/** Converts line numbers of one version. A cut belongs to what comes after the place where it was. */
function lineShift(cuts: readonly LineSpan[]) {
  const ends = cuts.map(({ end }) => end);
  const places: number[] = [];
  /** How many lines are gone with the first cuts, by their number. */
  const gone = [0];
  for (const { start, end } of cuts) {
    const before = gone.at(-1) ?? 0;
    places.push(start - before);
    gone.push(before + end - start);
  }
  return {
    toShort: (line: number) => line - (gone[countBelow(ends, line + 1)] ?? 0),
    toWhole: (line: number) => line + (gone[countBelow(places, line)] ?? 0),
  };
}

/** Counts the numbers below a limit, of some in order. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function mapRange({ start, end }: LineSpan, map: (line: number) => number): LineSpan {
  return { start: map(start), end: map(end) };
}

function isAsLong(one: Region, other: Region | undefined): boolean {
  return (['base', 'ours', 'theirs'] as const).every(
    (name) =>
      one[name].end - one[name].start === (other?.[name].end ?? 0) - (other?.[name].start ?? 0),
  );
}

/** Begins of a line that goes on with what is above it. */
const GOES_ON =
  /^(?:else|catch|finally|instanceof|in|of|as|extends|implements|satisfies|while)\b|^[^\w$@}\])"'/#*[{`<]/;
/** The end of a line that can be the end of a statement without a semicolon. */
const ENDED = /[\w$)\]'"`]$/;
/** The begin of a line that goes on with nothing above it, but for the words of GOES_ON. */
const BEGINS = /^[ \t]*[\w$@'"}]/;
/** A line after which a statement goes on though nothing shows it: a word that needs another, or a head without braces. */
const UNENDED =
  /^[ \t]*(?:@|\}?[ \t]*(?:if|for|while|with|else)\b)|\b(?:abstract|async|await|case|const|declare|default|delete|do|else|enum|export|extends|function|get|import|in|instanceof|interface|is|keyof|let|namespace|new|of|readonly|set|static|throw|type|typeof|var|void|yield)[ \t]*$/;
/** The begin of a line that can end a list of types, and the end of one that begins such a list. */
const CLOSES = /^[ \t]*>/;
const OPENS = /[\w$]<\r?\n?$/;
/** Brackets that are entered one inside the other, at most, in one stretch of lines. */
const MAX_DEPTH = 24;

/** The part that ends at a line (a member of a list, or a statement), or that begins below it (anything, or a member). */
type Border = 'member' | 'statement' | 'block' | 'list';

/** How the brackets of each line change the depth: by how much at its end, and at the least before that. */
type Depths = { readonly net: Int32Array; readonly least: Int32Array };

/** A program by its lines and brackets. */
type Program = {
  readonly lines: readonly string[];
  readonly nesting: Nesting;
  readonly depths: Depths;
};

/** Finders of lines that are still there: one merge asks for its texts again and again. */
const known = new WeakMap<readonly string[], FindParts>();

/**
 * Makes a finder of parts of a program that are whole statements or members: their brackets match, they begin
 * below the end of one and end with one. Told by line ends and brackets, so that a part may leave a text that does not
 * parse. It finds nothing where brackets do not match.
 */
function createPartFinder(lines: readonly string[]): FindParts {
  const before = known.get(lines);
  if (before !== undefined) return before;
  const findParts = createAnew(lines);
  known.set(lines, findParts);
  return findParts;
}

function createAnew(lines: readonly string[]): FindParts {
  const nesting = readNesting(lines);
  if (nesting === null) return () => [];
  const program = { lines, nesting, depths: depthsOf(lines, nesting) };
  return (stretch) => partsIn(program, stretch);
}

function depthsOf(lines: readonly string[], nesting: Nesting): Depths {
  const [net, least] = [new Int32Array(lines.length), new Int32Array(lines.length)];
  for (const { line, endLine } of [...nesting.brackets, ...angleBrackets(lines, nesting)]) {
    if (line === endLine) continue;
    net[line] = at(net, line) + 1;
    net[endLine] = at(net, endLine) - 1;
    // What is opened on a line is closed there before the brackets around it are.
    least[endLine] = at(least, endLine) - 1;
  }
  return { net, least };
}

/** Returns the lists of types over more than one line: such as end a line, and begin one of the same brackets. */
function angleBrackets(
  lines: readonly string[],
  { around, isText }: Nesting,
): readonly Pick<Bracket, 'line' | 'endLine'>[] {
  const found: Pick<Bracket, 'line' | 'endLine'>[] = [];
  const open: number[] = [];
  for (const [line, text] of lines.entries()) {
    if (at(isText, line) === 1) continue;
    if (open.length > 0 && CLOSES.test(text)) {
      let opened = open.pop();
      while (opened !== undefined && at(around, opened + 1) !== at(around, line))
        opened = open.pop();
      if (opened !== undefined) found.push({ line: opened, endLine: line });
    }
    if (text.includes('<') && OPENS.test(text)) open.push(line);
  }
  return found;
}

function partsIn(program: Program, { start, end }: LineSpan): readonly LineSpan[] {
  const parts: LineSpan[] = [];
  let from = start;
  // Lines within a text or a comment that began above are not part.
  while (from < end && at(program.nesting.isText, from) === 1) from++;
  let border: Border | null = null;
  for (let depth = 0; depth < MAX_DEPTH && from < end; depth++) {
    const opened = scanParts(program, { start: from, end }, border, parts);
    if (opened === null) break;
    border = borderAt(program.lines, opened);
    from = opened + 1;
  }
  return parts;
}

/** Adds the parts up to a bracket that is not closed in the stretch. Returns the line of that; null without. */
function scanParts(
  { lines, nesting: { isText }, depths }: Program,
  { start, end }: LineSpan,
  above: Border | null,
  parts: LineSpan[],
): number | null {
  let border = above;
  let depth = 0;
  let part = { start, end: start };
  let opened = start;
  const begin = (line: number) => {
    if (part.end > part.start) parts.push(part);
    part = { start: line, end: line };
  };
  for (let line = start; line < end; line++) {
    const [net, least] = [at(depths.net, line), at(depths.least, line)];
    const endsInText = at(isText, line + 1) === 1;
    if (depth + least < 0) {
      begin(line + 1);
      depth = 0;
      border = endsInText ? null : borderAt(lines, line);
      if (net > least) opened = line;
      depth = net > least && !/[{([]$/.test((lines[line] ?? '').trim()) ? net - least : 0;
      continue;
    }
    if (depth === 0 && net > 0) opened = line;
    depth += net;
    if (depth > 0 || endsInText) continue;
    const here = borderAt(lines, line);
    if (here === null) continue;
    if (border === null) {
      border = here;
      begin(line + 1);
    } else if (isFit(border, here)) part.end = line + 1;
  }
  begin(end);
  return depth > 0 && at(isText, end) === 0 ? opened : null;
}

function isFit(above: Border, below: Border): boolean {
  if (above === 'block') return below === 'member' || below === 'statement';
  if (above === 'list') return below === 'member';
  return above === below;
}

/** Returns what ends at a line; null where something goes on below it. */
function borderAt(lines: readonly string[], line: number): Border | null {
  const text = (lines[line] ?? '').trim();
  if (/^(?:\/\/|\*(?!\/))/.test(text)) return null;
  const next = nextText(lines, line);
  if (next !== '' && GOES_ON.test(next)) return null;
  if (/\{$/.test(text)) return 'block';
  if (/[[(]$/.test(text)) return 'list';
  if (/,$/.test(text)) return 'member';
  if (/[;}]$/.test(text) || /^import .*['"]$/.test(text)) return 'statement';
  if (!ENDED.test(text)) return null;
  const below = lines[line + 1] ?? '';
  const isSpaced = below.trim() === '';
  return isSpaced || isStatementBelow(lines[line] ?? '', below) ? 'statement' : null;
}

/** Tells whether a line can be no more than the begin of what is below, where no semicolons are written. */
function isStatementBelow(line: string, below: string): boolean {
  return indentOf(below) <= indentOf(line) && BEGINS.test(below) && !UNENDED.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function nextText(lines: readonly string[], line: number): string {
  for (let place = line + 1; place < lines.length; place++) {
    const text = (lines[place] ?? '').trim();
    if (text !== '') return text;
  }
  return '';
}

/** Shorter parts are not worth a cut. */
const MIN_BLANK = 4;
/** A whole statement on one line that tells a module from a script. */
const MODULE =
  /^(?:import|export)\b(?:[^{}'"]*|[^{}'"]*\{[^{}'"]*\}[^{}'"]*)(?:'[^']*'|"[^"]*");?\s*$/;
const BLANK = '\n';

/**
 * Returns a program with the same number of lines, in which whole statements and members without anything wanted are
 * blank. It parses like the whole program, in a part of the time. Names in blank parts are not seen. The first line
 * that tells a module from a script stays.
 *
 * It may fail to parse, for example if lines only look like statements.
 *
 * @param wanted ranges of lines; they may overlap, and reach beyond the text
 */
export function outlineOf(
  lines: readonly string[],
  wanted: readonly LineSpan[],
): readonly string[] {
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
function moduleLine(lines: readonly string[]): number {
  const only = lines.findIndex((line) => MODULE.test(line));
  return only >= 0 ? only : lines.findIndex((line) => /^(?:import|export)\b/.test(line));
}

function* gapsBetween(length: number, ranges: readonly LineSpan[]): Iterable<LineSpan> {
  let from = 0;
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (start > from) yield { start: from, end: Math.min(start, length) };
    from = Math.max(from, end);
  }
  if (from < length) yield { start: from, end: length };
}
