import type { Range } from '../lines/regions.ts';
import { type Nesting, readNesting } from '../syntax/nesting.ts';

/** A name with all that declares it: its text, and the lines on which that is. */
export type Declared = { readonly text: string; readonly lines: readonly Range[] };
export type Names = ReadonlyMap<string, Declared>;

const DECLARATION =
  /^(?:export\s+)?(?:declare\s+|abstract\s+|async\s+)*(?:function\s*\*?|class|interface|type|const\s+enum|enum|namespace|module|const|let|var)\s+(\{|\[|[\w$\x80-\uffff]+|"[^"]*"|'[^']*')/;
const DEFAULT = /^export\s+default\b/;
const CLASS = /^(?:export\s+)?(?:default\s+)?(?:declare\s+|abstract\s+)*class\b/;
const MEMBER =
  /^((?:(?:public|private|protected|readonly|abstract|override|declare|async|static|get|set|accessor)\s+)*)\*?\s*([#\w$\x80-\uffff]+|"[^"]*"|'[^']*'|\[[^\]]*\])/;
const OWN_WORDS = new Set(['static', 'get', 'set']);
const STATIC_BLOCK = /^static\s*\{/;
/** The first letter of a statement, and of a member, that is no comment and goes on with nothing above it. */
const HEAD = /^[\w$@\x80-\uffff]/;
const MEMBER_HEAD = /^[\w$#@*"'[\x80-\uffff]/;
const ASIDE = /^(?:\/\/|\/\*|\*|$)/;
const OPEN_ENDS = new Set([...'=,+&|(:?<'].map((sign) => sign.charCodeAt(0)));

/**
 * Reads the declarations at the top of a program and the members of its classes by lines and brackets, with less
 * care than a parser and in a tenth of its time. Null where that is not certain, as with decorators.
 */
export function namesByLines(lines: readonly string[]): Names | null {
  const nesting = readNesting(lines);
  if (nesting === null) return null;
  const names = new Map<string, { text: string; readonly lines: Range[] }>();
  const add = (name: string, range: Range) => {
    const known = names.get(name) ?? { text: '', lines: [] };
    known.text += `${lines.slice(range.start, range.end).join('')}\n`;
    known.lines.push(range);
    names.set(name, known);
  };
  const bodies = bodiesIn(nesting);
  for (const statement of partsOf(lines, nesting, -1, { start: 0, end: lines.length })) {
    const text = lines.slice(statement.start, statement.end).join('');
    const body = bodies(statement);
    const declared = text.startsWith('@') ? null : namesOf(text);
    if (declared === null) return null;
    for (const name of declared) {
      add(name, statement);
      if (!CLASS.test(text)) continue;
      if (body === null) return null;
      for (const member of partsOf(lines, nesting, body, statement)) {
        const key = keyOf((lines[member.start] ?? '').trim());
        if (key === null) return null;
        if (key !== '') add(`${name}.${key}`, member);
      }
    }
  }
  return names;
}

/** Makes a finder of the last bracket at the top of a statement, for statements in their order. */
function bodiesIn({ brackets }: Nesting): (statement: Range) => number | null {
  const tops = brackets.flatMap(({ parent, sign }, index) =>
    parent === -1 && sign === '{' ? [index] : [],
  );
  let next = 0;
  return ({ start, end }) => {
    let found: number | null = null;
    for (let index = tops[next]; index !== undefined; index = tops[next]) {
      const line = brackets[index]?.line ?? 0;
      if (line >= end) break;
      if (line >= start) found = index;
      next++;
    }
    return found;
  };
}

/** Returns the name of a member with the words that are a part of it, '' for none; null where it cannot be told. */
function keyOf(member: string): string | null {
  if (STATIC_BLOCK.test(member)) return '';
  const [, words = '', key] = MEMBER.exec(member) ?? [];
  if (key === undefined) return null;
  const own = words.split(/\s+/).filter((word) => OWN_WORDS.has(word));
  return [...own, key].join(' ');
}

/** Returns the names that a statement declares; null where they cannot be told. */
function namesOf(statement: string): readonly string[] | null {
  if (DEFAULT.test(statement)) return ['default'];
  const [, name] = DECLARATION.exec(statement) ?? [];
  if (name === undefined) return [];
  if (name !== '{' && name !== '[') return [name];
  const [pattern] = statement.split('=');
  return pattern?.match(/[\w$\x80-\uffff]+/g) ?? null;
}

/** Returns the statements or members directly in a bracket, each without what follows it aside. */
function partsOf(
  lines: readonly string[],
  { around, isText, before }: Nesting,
  bracket: number,
  { start, end }: Range,
): readonly Range[] {
  const heads: number[] = [];
  for (let line = start; line < end; line++) {
    if (around[line] !== bracket || isText[line] === 1 || OPEN_ENDS.has(before[line] ?? 0))
      continue;
    const text = lines[line] ?? '';
    if (bracket === -1 ? HEAD.test(text) : MEMBER_HEAD.test(text.trimStart())) heads.push(line);
  }
  return heads.map((head, index) => {
    let last = heads[index + 1] ?? end;
    // The bracket of a class itself is on a line of its own.
    if (bracket !== -1 && index === heads.length - 1) {
      while (last > head + 1 && around[last] !== bracket) last--;
    }
    while (
      last > head + 1 &&
      around[last - 1] === bracket &&
      ASIDE.test((lines[last - 1] ?? '').trim())
    )
      last--;
    return { start: head, end: last };
  });
}
