import type { LineSpan } from '../lines/regions.ts';
import type { ListKind, Member, NamedList } from './named-lists.ts';
import type { Side } from './parsed-side.ts';
import { firstFrom } from './syntax-words.ts';

/**
 * A member with everything that belongs to it: the text up to the member before, its separator, and a comment
 * after it on the same line.
 */
export type Unit = LineSpan & {
  readonly member: Member;
  /** The end of the member, its separator not counted. */
  readonly bodyEnd: number;
  readonly separator: string;
  readonly separatorEnd: number;
};

const SEPARATORS: Readonly<Record<ListKind, RegExp | null>> = {
  imports: null,
  specifiers: /,/,
  pattern: /,/,
  object: /,/,
  enum: /,/,
  interface: /[,;]/,
  class: null,
  union: null,
};

/** Returns the members of a list in order, without a gap between them. */
export function unitsOf(side: Side, list: NamedList): readonly Unit[] {
  let start = behindComments(side, list.open);
  return list.members().map((member) => {
    const { bodyEnd, separator, separatorEnd } = separatorOf(side, list.kind, member);
    const unit = {
      member,
      start,
      end: behindComments(side, separatorEnd),
      bodyEnd,
      separator,
      separatorEnd,
    };
    start = unit.end;
    return unit;
  });
}

/** Returns the offset where a list's first unit begins: after a comment on the line that opens it. */
export function headEnd(side: Side, list: NamedList): number {
  return behindComments(side, list.open);
}

function separatorOf(side: Side, kind: ListKind, { end }: Member) {
  const wanted = SEPARATORS[kind];
  if (wanted === null) return { bodyEnd: end, separator: '', separatorEnd: end };
  // A signature's separator is part of it, for the parser.
  const last = side.text[end - 1] ?? '';
  if (kind === 'interface') {
    const isPart = wanted.test(last);
    return {
      bodyEnd: isPart ? end - 1 : end,
      separator: isPart ? last : '',
      separatorEnd: end,
    };
  }
  const { tokens } = side.syntax;
  let index = firstFrom(tokens, end);
  while (tokens[index]?.kind === 'comment') index++;
  const next = tokens[index];
  const isSeparator = next !== undefined && wanted.test(side.text.slice(next.start, next.end));
  return {
    bodyEnd: end,
    separator: isSeparator ? side.text.slice(next.start, next.end) : '',
    separatorEnd: isSeparator ? next.end : end,
  };
}

/** Skips the comments that follow on the same line, if nothing else does. */
function behindComments(side: Side, offset: number): number {
  const { tokens } = side.syntax;
  const isBlank = (from: number, to: number) => /^[ \t]*$/.test(side.text.slice(from, to));
  let end = offset;
  let index = firstFrom(tokens, offset);
  for (; tokens[index]?.kind === 'comment'; index++) {
    const comment = tokens[index];
    if (comment === undefined || !isBlank(end, comment.start)) return end;
    end = comment.end;
  }
  const lineEnd = side.text.indexOf('\n', end);
  return isBlank(end, lineEnd < 0 ? side.text.length : lineEnd) ? end : offset;
}

/** Returns the words of a unit, layout and separator apart. */
export function keyOf({ words, text }: Side, unit: Unit): string {
  const norms: string[] = [];
  for (let index = firstFrom(words, unit.start); index < words.length; index++) {
    const word = words[index];
    if (word === undefined || word.start >= unit.end) break;
    // After the body come its separator and comments, of which only the comments have meaning.
    const isSeparator =
      word.start >= unit.bodyEnd && /^[,;]$/.test(text.slice(word.start, word.end));
    if (!isSeparator) norms.push(word.norm);
  }
  return norms.join('\0');
}
