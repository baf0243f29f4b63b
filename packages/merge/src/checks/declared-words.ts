import { readOnce } from '../read-once.ts';

const KEYWORD =
  'const|let|var|function|class|interface|type|enum|namespace|import|default|as|get|set|static|' +
  'public|private|protected|readonly|async|declare|abstract|override';
/** Matches a word in the position of a declared name: what may precede it, the word, what may follow. */
const DECLARED = new RegExp(
  `(?:^|[{[,;*"'#]|\\.{3}|\\b(${KEYWORD})\\s)\\s*([\\w$\\x80-\\uffff]+)["']?` +
    `(?=\\s*(?:$|[:=,};<?!{\\])]|\\((?!["'\`])|(?:as|from|extends|implements|of|in)\\b))`,
  'g',
);
/** Matches a key in quotes whose letters no name has. */
const QUOTED =
  /(?:^|[{,;]|\b(?:get|set|static|async|readonly)\s)\s*(?:"([^"\\]+)"|'([^'\\]+)')(?=\s*[?!]?[:(=])/g;
const NAME = /^[\w$\x80-\uffff]+$/;
/** Matches things without a name that may occur once: the label of a case, the default export. */
const LABEL = /\bcase\s+([^:]+):|\bexport\s+(default|=)/g;
/**
 * Words that are names only before a colon; before a bracket, too, where a statement does not begin so. Before
 * another bracket only what is around them tells: `if (a) {` can be a method.
 */
const RESERVED = new Set(
  (
    'break const continue debugger do else export extends false finally for function if import in instanceof ' +
    'null return super switch this throw true try typeof var void while with'
  ).split(' '),
);
const COLON = /["']?\s*[?!]?:/y;
const CALL = /\s*\(/y;
const SPACED_CALL = /\s+\(/y;
const ARROW = /\s*=>/y;
const METHODS = new Set(['finally', 'throw', 'with', 'in', 'do', 'try', 'export', 'void']);

/** A word of a line that may be a declared name; `key` includes indentation and keyword. */
export type DeclaredWord = {
  readonly name: string;
  readonly word: string;
  readonly key: string;
  readonly column: number;
  /** True for the only parameter of a function, without brackets around it. */
  readonly isParameter: boolean;
  /** True for one that is a name as a member of a class or an object, and a statement elsewhere. */
  readonly isMember: boolean;
};

/** Reads the words of a line that may be names. */
export type WordsIn = (line: string) => readonly DeclaredWord[];

/** Makes a reader for one merge, which reads a line once: its versions have most in common. */
export function wordReader(): WordsIn {
  return readOnce(declaredWords);
}

/** Returns the words of a line that may be names. */
export function declaredWords(line: string): readonly DeclaredWord[] {
  const trimmed = line.trim();
  if (trimmed === '') return [];
  const indent = line.length - line.trimStart().length;
  const words: DeclaredWord[] = [];
  if (trimmed.includes('case') || trimmed.includes('export')) {
    for (const { 1: label, 2: word, index } of trimmed.matchAll(LABEL)) {
      const name = label?.trim() ?? word ?? '';
      const key = `${indent} ${name}`;
      const column = indent + index;
      words.push({ name, word: '', key, column, isParameter: false, isMember: false });
    }
  }
  for (const found of trimmed.matchAll(DECLARED)) {
    const [whole, word = '', name = ''] = found;
    const start = found.index + whole.lastIndexOf(name);
    const end = start + name.length;
    if (!isName(name, word, trimmed, end)) continue;
    const isParameter = word === '' && isNext(ARROW, trimmed, end);
    const isMember = RESERVED.has(name) && !isNext(COLON, trimmed, end) && !METHODS.has(name);
    const key = `${indent} ${word} ${name}`;
    words.push({ name, word, key, column: indent + start, isParameter, isMember });
  }
  return [...words, ...quotedWords(trimmed, indent)];
}

function quotedWords(line: string, indent: number): readonly DeclaredWord[] {
  if (!/["']/.test(line)) return [];
  return [...line.matchAll(QUOTED)].flatMap(({ 0: found, 1: double, 2: single, index }) => {
    const name = double ?? single ?? '';
    if (NAME.test(name)) return [];
    const column = indent + index + found.indexOf(name);
    const key = `${indent}  ${name}`;
    return [{ name, word: '', key, column, isParameter: false, isMember: false }];
  });
}

function isName(name: string, word: string, line: string, end: number): boolean {
  if (RESERVED.has(name)) return isNext(COLON, line, end) || isNext(CALL, line, end);
  // `import type { … }`, and a function that is an argument.
  if (name === 'type') return word !== 'import' && word !== 'export';
  return name !== 'async' || !isNext(SPACED_CALL, line, end);
}

/** Tells whether a sticky pattern matches at a place. */
function isNext(pattern: RegExp, text: string, place: number): boolean {
  pattern.lastIndex = place;
  return pattern.test(text);
}
