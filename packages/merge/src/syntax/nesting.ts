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

/**
 * The state of reading a program up to some place; `last` is the last character that is neither white space nor
 * comment.
 */
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

const NEWLINE = 10;
const [NEWLINE_OR_SPACE, DOLLAR, SEMICOLON] = [32, 36, 59];
const [QUOTE, APOSTROPHE, BACKTICK, BACKSLASH, SLASH, STAR] = [34, 39, 96, 92, 47, 42];
const [ROUND, ROUND_END, SQUARE, SQUARE_END, CURLY, CURLY_END] = [40, 41, 91, 93, 123, 125];
/** 1 for a character that means something by itself; the others, most of a text, are passed. */
const IS_SIGN = new Uint8Array(128);
for (const sign of '"\'`/()[]{}') IS_SIGN[sign.charCodeAt(0)] = 1;

/** Results for lines that still exist, because one merge asks for the same texts again and again. */
const known = new WeakMap<readonly string[], { readonly nesting: Nesting | null }>();

/**
 * Reads the brackets of a program outside texts, comments and patterns: without a parser, in a tenth of its time.
 *
 * Null where they do not match, as in a text that is not a program, or where JSX has words with brackets.
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
  // Characters of one text are read in a fraction of the time that those of parts of a text take.
  const text = lines.join('');
  let start = 0;
  for (let line = 0; line < lines.length; line++) {
    around[line] = reading.inner;
    isText[line] = reading.inside === 'code' ? 0 : 1;
    before[line] = reading.last;
    const said = lines[line] ?? '';
    const end = start + said.length;
    if (!readLine(reading, { line, said, text, start, end })) return null;
    start = end;
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

/** A line of a program: what it says, and where in the text of all lines. */
type Line = {
  readonly line: number;
  readonly said: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** Reads a line; false where a bracket ends that is not open. */
function readLine(reading: Reading, place: Line): boolean {
  const { line, text, start, end } = place;
  let index = reading.inside === 'code' ? start : readText(reading, place, start);
  if (index === start) {
    while (index < end && text.charCodeAt(index) <= NEWLINE_OR_SPACE) index++;
    if (index < end) markBlock(reading, place, index);
  }
  for (;;) {
    index = passPlain(reading, text, index, end);
    if (index === end) return true;
    const code = text.charCodeAt(index);
    if (code === SLASH) {
      const next = text.charCodeAt(index + 1);
      if (next === SLASH) return true;
      if (next === STAR) {
        reading.inside = 'comment';
        index = readText(reading, place, index + 2);
        continue;
      }
      if (isPatternAt(text, index, start, reading.last)) index = endOfPattern(text, index);
    } else if (code === QUOTE || code === APOSTROPHE) index = endOfText(text, index);
    else if (code === BACKTICK) reading.inside = 'template';
    else if (code === ROUND) open(reading, '(', line, index - start);
    else if (code === SQUARE) open(reading, '[', line, index - start);
    else if (code === CURLY) open(reading, '{', line, index - start);
    else if (!close(reading, code, line, index - start)) return false;
    reading.last = code;
    index++;
    // A bracket that ended can be one of a template.
    if (reading.inside !== 'code') index = readText(reading, place, index);
  }
}

/** Passes characters that mean nothing by themselves, most of a text; returns the place of the next that does. */
function passPlain(reading: Reading, text: string, from: number, end: number): number {
  let { last } = reading;
  let index = from;
  for (; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code <= NEWLINE_OR_SPACE) continue;
    if (code < IS_SIGN.length && IS_SIGN[code] === 1) break;
    last = code;
  }
  reading.last = last;
  return index;
}

/** Reads on within a comment or a template; returns the place after it, or where the line ends. */
function readText(reading: Reading, { line, text, start, end }: Line, from: number): number {
  const isComment = reading.inside === 'comment';
  for (let index = from; index < end; index++) {
    const code = text.charCodeAt(index);
    if (isComment) {
      if (code !== STAR || text.charCodeAt(index + 1) !== SLASH) continue;
      reading.inside = 'code';
      return index + 2;
    }
    if (code === BACKSLASH) index++;
    else if (code === BACKTICK) {
      reading.inside = 'code';
      reading.last = BACKTICK;
      return index + 1;
    } else if (code === DOLLAR && text.charCodeAt(index + 1) === CURLY) {
      open(reading, '${', line, index - start);
      reading.inside = 'code';
      reading.last = ROUND;
      return index + 2;
    }
  }
  return end;
}

function markBlock({ brackets, inner, last }: Reading, { said, start }: Line, index: number): void {
  const bracket = brackets[inner];
  if (bracket?.sign !== '{' || bracket.isBlock || OPEN_ENDS.has(last)) return;
  STATEMENT.lastIndex = index - start;
  if (STATEMENT.test(said)) bracket.isBlock = true;
}

function open(reading: Reading, sign: Bracket['sign'], line: number, column: number): void {
  const parent = reading.inner;
  reading.inner = reading.brackets.length;
  // A spread would take longer than all else here.
  reading.brackets.push({ sign, line, column, parent, endLine: -1, endColumn: -1, isBlock: false });
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

/** Characters before a slash that begins a pattern; after others it divides. */
const BEFORE_PATTERN = new Set([...'(,=:[!&|?{;+-*%>~^'].map((sign) => sign.charCodeAt(0)));
const WORD_BEFORE =
  /\b(?:return|typeof|case|in|of|void|delete|instanceof|throw|new|do|else|yield|await)\s*$/;

/**
 * Tells whether a slash begins a pattern, by the character before it, space and comments apart, and the word before it
 * on its line.
 */
function isPatternAt(text: string, at: number, lineStart: number, last: number): boolean {
  if (BEFORE_PATTERN.has(last)) return true;
  return WORD_BEFORE.test(text.slice(Math.max(lineStart, at - 12), at));
}

/** Returns the place of the quote that ends a text in quotes; the same where the line has none, as in words of JSX. */
function endOfText(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === quote) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH && text.charCodeAt(end + 1) !== NEWLINE) end++;
  }
  return at;
}

/** Returns the place of the slash that ends a pattern; the same where the line has none. */
function endOfPattern(text: string, at: number): number {
  let isClass = false;
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === SLASH && !isClass) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH && text.charCodeAt(end + 1) !== NEWLINE) end++;
    else if (code === SQUARE) isClass = true;
    else if (code === SQUARE_END) isClass = false;
  }
  return at;
}
