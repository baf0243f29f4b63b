import { endOfPattern, endOfText, isPatternAt } from './quoted.ts';

/** A bracket of a program, where it begins, and where it ends; `parent` is the one around it, -1 at the top. */
export type Bracket = {
  readonly sign: '(' | '[' | '{' | '${';
  readonly line: number;
  readonly column: number;
  readonly parent: number;
  endLine: number;
  endColumn: number;
  /** True for one that is known to hold statements. */
  isBlock: boolean;
};

/** The brackets of a program, in the order in which they begin. */
export type Nesting = {
  readonly brackets: readonly Bracket[];
  /** The innermost bracket around the begin of each line, and after the last one around the end; -1 at the top. */
  readonly around: Int32Array;
  /** 1 for a line that begins within a comment or a template. */
  readonly isText: Uint8Array;
  /** The last character before each line, space and comments apart; a semicolon at the head of the text. */
  readonly before: Uint16Array;
};

/** What is read of a program up to some place; `last` is the character before it, space and comments apart. */
type Reading = {
  readonly brackets: Bracket[];
  inner: number;
  inside: 'code' | 'comment' | 'template';
  last: number;
};

/** Begins of a line that no member of a list has: a statement with its keyword, a call with a text or by a path. */
const STATEMENT =
  /(?:(?:const|let|var|throw|await|try|do|else)[ \t]+[^\s:=?!,;(<]|return\b(?!\s*[:?!(=<])|(?:if|for|while|switch)\s*\(|case\b(?!\s*[:?!(=<,])|[\w$]+\(['"`]|[\w$]+(?:\.[\w$]+)+(?:\(|\s*=(?!>)))/y;
/** A line after one that ends so is no statement of its own. */
const OPEN_ENDS = new Set([...',:=+-*/%&|?(<>.!~^['].map((sign) => sign.charCodeAt(0)));

const [NEWLINE_OR_SPACE, DOLLAR, SEMICOLON] = [32, 36, 59];
const [QUOTE, APOSTROPHE, BACKTICK, BACKSLASH, SLASH, STAR] = [34, 39, 96, 92, 47, 42];
const [ROUND, ROUND_END, SQUARE, SQUARE_END, CURLY, CURLY_END] = [40, 41, 91, 93, 123, 125];

/** What was read of lines that are still there: one merge asks for its texts again and again. */
const known = new WeakMap<readonly string[], { readonly nesting: Nesting | null }>();

/**
 * Reads the brackets of a program outside texts, comments and patterns: without a parser, in a tenth of its time.
 *
 * Null where they do not match, as in a text that is no program, or where JSX has words with brackets.
 */
export function readNesting(lines: readonly string[]): Nesting | null {
  const before = known.get(lines);
  if (before !== undefined) return before.nesting;
  const nesting = readAnew(lines);
  known.set(lines, { nesting });
  return nesting;
}

function readAnew(lines: readonly string[]): Nesting | null {
  const reading: Reading = { brackets: [], inner: -1, inside: 'code', last: SEMICOLON };
  const around = new Int32Array(lines.length + 1);
  const isText = new Uint8Array(lines.length + 1);
  const before = new Uint16Array(lines.length + 1);
  for (const [line, text] of lines.entries()) {
    around[line] = reading.inner;
    isText[line] = reading.inside === 'code' ? 0 : 1;
    before[line] = reading.last;
    if (!readLine(reading, line, text)) return null;
  }
  around[lines.length] = reading.inner;
  const { brackets, inner, inside } = reading;
  return inner === -1 && inside === 'code' ? { brackets, around, isText, before } : null;
}

/** Returns the innermost bracket around a place; -1 at the top. */
export function bracketAt({ brackets, around }: Nesting, line: number, column: number): number {
  let found = around[line] ?? -1;
  // A bracket that ends before the place is followed by its parent.
  for (let bracket = brackets[found]; bracket !== undefined; bracket = brackets[found]) {
    if (bracket.endLine > line || bracket.endColumn >= column) break;
    found = bracket.parent;
  }
  for (let index = firstFrom(brackets, line); index < brackets.length; index++) {
    const bracket = brackets[index];
    if (bracket === undefined || bracket.line > line || bracket.column >= column) break;
    if (bracket.endLine > line || bracket.endColumn >= column) found = index;
  }
  return found;
}

function firstFrom(brackets: readonly Bracket[], line: number): number {
  let [low, high] = [0, brackets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((brackets[middle]?.line ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads a line; false where a bracket ends that is not open. */
function readLine(reading: Reading, line: number, text: string): boolean {
  let isHead = reading.inside === 'code';
  for (let column = 0; column < text.length; column++) {
    const code = text.charCodeAt(column);
    if (reading.inside !== 'code') {
      column = readText(reading, line, text, column);
      continue;
    }
    if (code <= NEWLINE_OR_SPACE) continue;
    if (isHead) markBlock(reading, text, column);
    isHead = false;
    if (code === SLASH) {
      const next = text.charCodeAt(column + 1);
      if (next === SLASH) return true;
      if (next === STAR) {
        reading.inside = 'comment';
        column++;
        continue;
      }
      if (isPatternAt(text, column, reading.last)) column = endOfPattern(text, column);
    } else if (code === QUOTE || code === APOSTROPHE) column = endOfText(text, column);
    else if (code === BACKTICK) reading.inside = 'template';
    else if (code === ROUND) open(reading, '(', line, column);
    else if (code === SQUARE) open(reading, '[', line, column);
    else if (code === CURLY) open(reading, '{', line, column);
    else if (code === ROUND_END || code === SQUARE_END || code === CURLY_END) {
      if (!close(reading, code, line, column)) return false;
    }
    reading.last = code;
  }
  return true;
}

/** Reads a character of a comment or a template; returns the last column that was read. */
function readText(reading: Reading, line: number, text: string, column: number): number {
  const code = text.charCodeAt(column);
  const next = text.charCodeAt(column + 1);
  if (reading.inside === 'comment') {
    if (code !== STAR || next !== SLASH) return column;
    reading.inside = 'code';
    return column + 1;
  }
  if (code === BACKSLASH) return column + 1;
  if (code === BACKTICK) {
    reading.inside = 'code';
    reading.last = BACKTICK;
  } else if (code === DOLLAR && next === CURLY) {
    open(reading, '${', line, column);
    reading.inside = 'code';
    reading.last = ROUND;
    return column + 1;
  }
  return column;
}

function markBlock({ brackets, inner, last }: Reading, text: string, column: number): void {
  const bracket = brackets[inner];
  if (bracket?.sign !== '{' || bracket.isBlock || OPEN_ENDS.has(last)) return;
  STATEMENT.lastIndex = column;
  if (STATEMENT.test(text)) bracket.isBlock = true;
}

function open(reading: Reading, sign: Bracket['sign'], line: number, column: number): void {
  const parent = reading.inner;
  reading.inner = reading.brackets.length;
  const end = { endLine: -1, endColumn: -1 };
  reading.brackets.push({ sign, line, column, parent, ...end, isBlock: false });
}

function close(reading: Reading, code: number, line: number, column: number): boolean {
  const bracket = reading.brackets[reading.inner];
  if (bracket === undefined) return false;
  const { sign, parent } = bracket;
  const end = sign === '(' ? ROUND_END : sign === '[' ? SQUARE_END : CURLY_END;
  if (code !== end) return false;
  bracket.endLine = line;
  bracket.endColumn = column;
  reading.inner = parent;
  if (sign === '${') reading.inside = 'template';
  return true;
}
