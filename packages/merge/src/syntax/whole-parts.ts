import { at } from '../lines/intern.ts';
import type { Range } from '../lines/regions.ts';
import { type Bracket, type Nesting, readNesting } from './nesting.ts';

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

/** Finds the parts of a stretch of lines that are whole statements or members. */
export type FindParts = (stretch: Range) => readonly Range[];

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
export function createPartFinder(lines: readonly string[]): FindParts {
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

function partsIn(program: Program, { start, end }: Range): readonly Range[] {
  const parts: Range[] = [];
  let from = start;
  // Lines within a text or a comment that began above are no part.
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
  { start, end }: Range,
  above: Border | null,
  parts: Range[],
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
