import { type Bracket, bracketAt, type Nesting } from '../syntax/nesting.ts';
import type { DeclaredWord } from './declared-words.ts';

/** A word that may be a declared name, and its line. */
export type Placed = DeclaredWord & { readonly line: number };

/** A program by lines and brackets. */
export type Program = { readonly lines: readonly string[]; readonly nesting: Nesting };

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
 * Makes a test of two places that declare one name: whether it may be the same scope or list, by the brackets between
 * them. Where it is not certain, it may.
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
export function isAmongMembers({ lines, nesting }: Program, { line, column }: Placed): boolean {
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
