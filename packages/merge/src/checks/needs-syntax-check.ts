import { linesOf, type Region } from '../lines/regions.ts';
import { type Format, isLanguage } from '../syntax/language.ts';
import { type Bracket, bracketAt, type Nesting, readNesting } from '../syntax/nesting.ts';
import { readOnce } from '../syntax/parse.ts';
import type { Versions } from '../versions.ts';

const BRACKETS = /[()[\]{}]/g;
/** Pairs of places that are compared; of more, a parser finds out. */
const MAX_PAIRS = 2000;

type Side = 'ours' | 'theirs';

/** The defects that a parse could find in this merge. */
export type Suspicion = {
  /** Each taken for all conflicts; one of them, where there are no conflicts. */
  readonly sides: readonly Side[];
  /** The names that may be declared twice; null where anything may be wrong. */
  readonly names: Set<string> | null;
};

/** Reads the words of a line that may be names. */
export type WordsIn = (line: string) => readonly DeclaredWord[];

/**
 * Finds out whether a merge may have declared a name twice or combined brackets that do not match. That needs a part
 * of both sides. So most merges need no parser.
 */
export function suspicionOf(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  format: Format,
  wordsIn: WordsIn,
): Suspicion {
  const of = (wanted: Region['kind']) => regions.filter(({ kind }) => kind === wanted);
  const [ours, theirs, open, resolved] = [of('ours'), of('theirs'), of('conflict'), of('resolved')];
  const parts = [ours, theirs, open].filter(({ length }) => length > 0);
  if (resolved.length === 0 && parts.length < 2) return { sides: [], names: null };
  const sides: readonly Side[] = open.length > 0 ? ['ours', 'theirs'] : ['ours'];
  // Other formats than languages are short, and rare.
  if (!isLanguage(format)) return { sides, names: null };
  const isUneven = (region: Region) => !isEven(region, lines);
  if (open.length === 0 && ours.some(isUneven) && theirs.some(isUneven))
    return { sides, names: null };
  const found = sides.map((side) => ({
    side,
    names: namesTwice(side, regions, { lines, wordsIn }),
  }));
  const suspects = found.filter(({ names }) => names?.size !== 0);
  return {
    sides: suspects.map(({ side }) => side),
    names: suspects.some(({ names }) => names === null)
      ? null
      : new Set(suspects.flatMap(({ names }) => [...(names ?? [])])),
  };
}

/** A word that may be a declared name, and its line. */
type Placed = DeclaredWord & { readonly line: number };

/** Returns the names that may be declared twice where one side is taken for all conflicts; null where they cannot be told. */
function namesTwice(
  side: Side,
  regions: readonly Region[],
  { lines, wordsIn }: { readonly lines: Versions<readonly string[]>; readonly wordsIn: WordsIn },
): ReadonlySet<string> | null {
  const placed: Record<Side | 'open', Placed[]> = { ours: [], theirs: [], open: [] };
  const resolved: (readonly Placed[])[] = [];
  const isOpen = regions.some(({ kind }) => kind === 'conflict');
  let line = 0;
  for (const region of regions) {
    const { kind } = region;
    const said = linesOf(kind === 'conflict' ? { ...region, kind: side } : region, lines);
    const start = line;
    line += said.length;
    // One side may have moved away what the other one keeps in a conflict.
    if (kind === 'conflict') placed.open.push(...placesIn(said, start, wordsIn));
    else if (kind !== 'all' && kind !== 'both') {
      // Where both changed a line, what the other side took out there it may have put elsewhere.
      const other = kind === 'ours' ? 'theirs' : kind === 'theirs' ? 'ours' : 'base';
      const before = lines[other].slice(region[other].start, region[other].end);
      const gained = gainedBy(said, before, start, wordsIn);
      if (kind === 'resolved') resolved.push(gained);
      else placed[kind].push(...gained);
    }
  }
  const { ours, theirs, open } = placed;
  const shared =
    side === 'theirs'
      ? sharedBy(ours, open)
      : [...sharedBy(ours, theirs), ...sharedBy(theirs, open)];
  let others = side === 'theirs' ? open : [...ours, ...theirs, ...open];
  for (const answer of resolved) {
    shared.push(...sharedBy(answer, others));
    others = [...others, ...answer];
  }
  if (shared.length === 0) return new Set();
  const filled = regions.flatMap((region) =>
    linesOf(region.kind === 'conflict' ? { ...region, kind: side } : region, lines),
  );
  const nesting = readNesting(filled);
  // With other words in a conflict brackets may match; these say nothing of names.
  if (nesting === null) return isOpen && isNested(lines) ? new Set() : null;
  return clashesAmong(shared, { lines: filled, nesting });
}

/** Tells whether the brackets of both sides match. */
function isNested({ ours, theirs }: Versions<readonly string[]>): boolean {
  return readNesting(ours) !== null && readNesting(theirs) !== null;
}

/** A name and the places of it in two parts of a merge. */
type Shared = {
  readonly name: string;
  readonly some: readonly Placed[];
  readonly others: readonly Placed[];
};

/** Returns the names that are at places of both kinds; one that may be a member is compared with such alone. */
function sharedBy(some: readonly Placed[], others: readonly Placed[]): Shared[] {
  const keyOf = ({ name, isMember }: Placed) => `${isMember} ${name}`;
  const theirs = Map.groupBy(others, keyOf);
  return [...Map.groupBy(some, keyOf)].flatMap(([key, mine]) => {
    const [{ name } = { name: '' }] = mine;
    const its = theirs.get(key);
    return its === undefined ? [] : [{ name, some: mine, others: its }];
  });
}

/** Returns the names that may be twice in one scope; those that are beyond what is compared, too. */
function clashesAmong(shared: readonly Shared[], program: Program): ReadonlySet<string> {
  const isClash = findClashes(program);
  const isPlace = (place: Placed) => !place.isMember || isAmongMembers(program, place);
  const found = new Set<string>();
  let left = MAX_PAIRS;
  for (const { name, some, others } of shared) {
    if (found.has(name)) continue;
    left -= some.length * others.length;
    const hasClash = () => {
      const wanted = others.filter(isPlace);
      return some.some((one) => isPlace(one) && wanted.some((other) => isClash(one, other)));
    };
    if (left < 0 || hasClash()) found.add(name);
  }
  return found;
}

/** A program by lines and brackets. */
type Program = { readonly lines: readonly string[]; readonly nesting: Nesting };

/** Words whose names are declared for the function or module around, whatever brackets they are in. */
const LOOSE = new Set(['var', 'import', 'default', 'as', 'namespace']);
const FUNCTION = /(?:=>|\bfunction\b[^{]*\))\s*$/;
const MEMBERS = /(?:^|\s)(?:class|interface|enum)\s[^;]*$/;
/** The end of what is before an object. */
const OBJECT = /(?:[=([,:?&|]|\breturn|\bdefault)\s*$/;
const VAR = /\bvar\b/;
/** Lines from the end of a function's parameters to its body, with a type between them. */
const MAX_HEAD = 12;

/**
 * Makes a test whether two places that declare one name may be in the same scope or list, judged by the brackets
 * between them. If it is not certain, the answer is yes.
 */
export function findClashes({ lines, nesting }: Program): (one: Placed, other: Placed) => boolean {
  const { brackets } = nesting;
  const hasVar = lines.some((line) => VAR.test(line));
  const around = ({ line, column }: Placed) => {
    const chain: Bracket[] = [];
    let bracket = brackets[bracketAt(nesting, line, column)];
    for (; bracket !== undefined; bracket = brackets[bracket.parent]) chain.push(bracket);
    return chain;
  };
  /** Tells whether some brackets hide what is declared in them from what is outside. */
  const isHidden = ({ word }: Placed, chain: readonly Bracket[]) => {
    const isLoose = LOOSE.has(word) || (word === '' && hasVar);
    return chain.some(({ sign, line, column, isBlock }) => {
      if (sign === '(') return word !== 'var';
      const head = (lines[line] ?? '').slice(0, column);
      return sign === '{' && (FUNCTION.test(head) || MEMBERS.test(head) || (isBlock && !isLoose));
    });
  };
  return (one, other) => {
    const [mine, its] = [around(one), around(other)];
    if (one.isParameter && isBeside(one, other, its)) return true;
    if (other.isParameter && isBeside(other, one, mine)) return true;
    if (one.isParameter || other.isParameter) return false;
    const [known, itsKnown] = [new Set(mine), new Set(its)];
    const apart = mine.filter((bracket) => !itsKnown.has(bracket));
    const otherApart = its.filter((bracket) => !known.has(bracket));
    if (!isHidden(one, apart) && !isHidden(other, otherApart)) return true;
    return isInHead(one, apart, otherApart) || isInHead(other, otherApart, apart);
  };
}

/** Tells whether a place is directly in a class, an interface or an object, and not among statements. */
function isAmongMembers({ lines, nesting }: Program, { line, column }: Placed): boolean {
  const bracket = nesting.brackets[bracketAt(nesting, line, column)];
  if (bracket?.sign !== '{') return false;
  const head = (lines[bracket.line] ?? '').slice(0, bracket.column);
  return MEMBERS.test(head) || OBJECT.test(head);
}

/** Tells whether a place is on the line of a parameter, or in brackets that begin there. */
function isBeside({ line }: Placed, other: Placed, chain: readonly Bracket[]): boolean {
  return other.line === line || chain.some((bracket) => bracket.line === line);
}

/** Tells whether a place may be in the head of the function whose body another place is in. */
function isInHead(
  { line }: Placed,
  chain: readonly Bracket[],
  others: readonly Bracket[],
): boolean {
  const [head, body] = [chain.at(-1), others.at(-1)];
  if (body?.sign !== '{') return false;
  if (head === undefined) return line === body.line;
  const distance = body.line - head.endLine;
  return head.sign === '(' && distance >= 0 && distance <= MAX_HEAD;
}

function placesIn(lines: readonly string[], start: number, wordsIn: WordsIn): readonly Placed[] {
  return lines.flatMap((line, index) =>
    wordsIn(line).map((word) => ({ ...word, line: start + index })),
  );
}

/** Returns the names that a change may declare: more often than before, with another word, or further in. */
function gainedBy(
  lines: readonly string[],
  before: readonly string[],
  start: number,
  wordsIn: WordsIn,
): readonly Placed[] {
  const counts = new Map<string, number>();
  for (const line of before) {
    for (const { key } of wordsIn(line)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return placesIn(lines, start, wordsIn).filter(({ key }) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}

/** Tells whether a change leaves as many brackets open as there were before. */
function isEven(region: Region, lines: Versions<readonly string[]>): boolean {
  const before = lines.base.slice(region.base.start, region.base.end);
  return bracketsLeftBy(before) === bracketsLeftBy(linesOf(region, lines));
}

/** Counts the brackets of each kind that lines leave open, as one comparable word. */
function bracketsLeftBy(lines: readonly string[]): string {
  const counts = new Map([...'()[]{}'].map((bracket) => [bracket, 0]));
  for (const line of lines) {
    for (const [bracket] of line.matchAll(BRACKETS)) {
      counts.set(bracket, (counts.get(bracket) ?? 0) + 1);
    }
  }
  const left = (open: string, close: string) => (counts.get(open) ?? 0) - (counts.get(close) ?? 0);
  return `${left('(', ')')} ${left('[', ']')} ${left('{', '}')}`;
}

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

/** Makes a reader for one merge. It reads each line once, since the versions have most lines in common. */
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
