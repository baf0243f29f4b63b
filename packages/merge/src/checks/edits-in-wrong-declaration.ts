import { at, type Interned } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import { type LineSpan, linesOf, type Region } from '../lines/regions.ts';
import { declaredNames } from '../syntax/bindings.ts';
import { type Format, isLanguage, type Language } from '../syntax/language.ts';
import { type Nesting, readNesting } from '../syntax/nesting.ts';
import { isNode, nodesIn, type Parse, type SyntaxNode } from '../syntax/parse.ts';
import { decodeLines } from '../syntax/parsed-side.ts';
import type { Versions } from '../versions.ts';
import { joinRegions } from './join-regions.ts';

/** Makes conflicts of regions that changed a declaration which their side did not change. */
export type PlaceCheck = (regions: readonly Region[]) => readonly Region[];

type Names = ReadonlyMap<string, Declared>;

/**
 * Makes a check that compares the declarations of a merged program, by name, with those of the sides. If one side
 * changed a declaration, the result must have that side's; if both changed it, the result must not have the base's.
 *
 * Otherwise an edit landed in another declaration, and the regions between the two places become one conflict.
 * Declarations may move: they are compared by name, at the top level and in classes.
 *
 * A program that cannot be parsed is not checked, and neither is a name inside an open conflict.
 */
export function checkPlaces(
  texts: Interned,
  lines: Versions<readonly string[]>,
  format: Format,
  parse: Parse,
): PlaceCheck {
  if (!isLanguage(format) || format === 'json') return (regions) => regions;
  const namesIn = (text: readonly string[]) => readNames(decodeLines(text), parse, format);
  let known: Versions<Names | null> | null = null;
  const check: PlaceCheck = (regions) => {
    if (!mayBeMisplaced(regions, texts, lines)) return regions;
    const result = regions.flatMap((region) => linesOf(region, lines));
    if (isPlacedByLines(result, lines)) return regions;
    const merged = namesIn(result);
    if (merged === null) return regions;
    known ??= mapVersions(lines, namesIn);
    const { base, ours, theirs } = known;
    if (base === null || ours === null || theirs === null) return regions;
    const versions = { base, ours, theirs };
    const stretches = misplacedNames({ ...versions, merged }).flatMap((name) => {
      const touched = touchedBy(name, { ...versions, merged }, regions, lines);
      return touched === null ? [] : [touched];
    });
    return stretches.length === 0 ? regions : check(joinRegions(regions, stretches));
  };
  return check;
}

/** Tells whether each declaration is what the sides made of it, as far as lines and brackets tell. */
function isPlacedByLines(result: readonly string[], lines: Versions<readonly string[]>): boolean {
  const merged = namesByLines(result);
  const { base, ours, theirs } = mapVersions(lines, namesByLines);
  if (merged === null || base === null || ours === null || theirs === null) return false;
  return misplacedNames({ base, ours, theirs, merged }).length === 0;
}

/** A name with all that declares it: its text, and the lines on which that is. */
type Declared = { readonly text: string; readonly lines: readonly LineSpan[] };

const DECLARATION =
  /^(?:export\s+)?(?:declare\s+|abstract\s+|async\s+)*(?:function\s*\*?|class|interface|type|const\s+enum|enum|namespace|module|const|let|var)\s+(\{|\[|[\w$\x80-\uffff]+|"[^"]*"|'[^']*')/;
const DEFAULT = /^export\s+default\b/;
const CLASS = /^(?:export\s+)?(?:default\s+)?(?:declare\s+|abstract\s+)*class\b/;
const MEMBER =
  /^((?:(?:public|private|protected|readonly|abstract|override|declare|async|static|get|set|accessor)\s+)*)\*?\s*([#\w$\x80-\uffff]+|"[^"]*"|'[^']*'|\[[^\]]*\])/;
const OWN_WORDS = new Set(['static', 'get', 'set']);
const STATIC_BLOCK = /^static\s*\{/;
/** The first letter of a statement, and of a member, that is no comment and goes on with nothing above it. */
const STATEMENT_HEAD = /^[\w$@\x80-\uffff]/;
const MEMBER_HEAD = /^[\w$#@*"'[\x80-\uffff]/;
const ASIDE = /^(?:\/\/|\/\*|\*|$)/;
const OPEN_ENDS = new Set([...'=,+&|(:?<'].map((sign) => sign.charCodeAt(0)));

/**
 * Reads the declarations at the top of a program, and the members of its classes, by lines and brackets: less exactly
 * than a parser, in a tenth of its time. Null if that is not certain, as with decorators.
 */
export function namesByLines(lines: readonly string[]): Names | null {
  const nesting = readNesting(lines);
  if (nesting === null) return null;
  const names = new Map<string, { text: string; readonly lines: LineSpan[] }>();
  const add = (name: string, range: LineSpan) => {
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
function bodiesIn({ brackets }: Nesting): (statement: LineSpan) => number | null {
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
  { start, end }: LineSpan,
): readonly LineSpan[] {
  const heads: number[] = [];
  for (let line = start; line < end; line++) {
    if (around[line] !== bracket || isText[line] === 1 || OPEN_ENDS.has(before[line] ?? 0))
      continue;
    const text = lines[line] ?? '';
    if (bracket === -1 ? STATEMENT_HEAD.test(text) : MEMBER_HEAD.test(text.trimStart()))
      heads.push(line);
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

function readNames(text: string, parse: Parse, language: Language): Names | null {
  const syntax = parse(text, language, { tokens: false });
  if (syntax === null) return null;
  const starts = lineStarts(text);
  const names = new Map<string, Declared>();
  for (const { name, start, end } of declarationsIn(syntax.root, text)) {
    const before = names.get(name);
    const range = { start: lineAt(starts, start), end: lineAt(starts, end - 1) + 1 };
    names.set(name, {
      // Overloads, and a type with a value of its name, count as one.
      text: `${before?.text ?? ''}${text.slice(start, end)}\n`,
      lines: [...(before?.lines ?? []), range],
    });
  }
  return names;
}

/** For each line, where the line is that begins its declaration, and its class member; -1 without one. */
type Owners = { readonly tops: Int32Array; readonly members: Int32Array };

const OTHER = { ours: 'theirs', theirs: 'ours' } as const;
/** The first letter of a line that may begin a declaration. */
const HEAD = /^[\w$@#["'\x80-\uffff]/;

/**
 * Tells whether an edit of one side may be in another declaration than before in the other side. Decides by
 * lines: by the nearest line above that is not indented, in a class by the nearest one of its members.
 *
 * Spares most merges the parser. Answers yes where such a line is not the only one of its kind.
 */
function mayBeMisplaced(
  regions: readonly Region[],
  texts: Interned,
  lines: Versions<readonly string[]>,
): boolean {
  const kinds = new Set(regions.map(({ kind }) => kind));
  if (!kinds.has('ours') && !kinds.has('theirs')) return false;
  if (kinds.size - Number(kinds.has('all')) < 2) return false;
  const owners = mapVersions(lines, ownersOf);
  const counts = mapVersions(NAMES, (name) => {
    const count = new Int32Array(texts.size);
    for (const line of texts[name]) count[line] = at(count, line) + 1;
    return count;
  });
  const isSame = (name: 'ours' | 'theirs', here: number, there: number) => {
    const isSameHead = (one: number, other: number, isOnly: boolean) => {
      if (one < 0 || other < 0) return one === other;
      const line = at(texts.base, one);
      if (line !== at(texts[name], other)) return false;
      return isOnly || (counts.base[line] === 1 && counts[name][line] === 1);
    };
    const [top, otherTop] = [at(owners.base.tops, here), at(owners[name].tops, there)];
    const isImport = lines.base[top]?.startsWith('import') === true;
    if (!isSameHead(top, otherTop, isImport)) return false;
    return isSameHead(at(owners.base.members, here), at(owners[name].members, there), false);
  };
  return regions.some(({ kind, base, ...sides }) => {
    if (kind !== 'ours' && kind !== 'theirs') return false;
    const there = sides[OTHER[kind]].start;
    // Inserted lines belong to the line above them.
    const above = base.start === base.end ? 1 : 0;
    if (base.start < above || there < above) return false;
    return !isSame(OTHER[kind], base.start - above, there - above);
  });
}

function ownersOf(lines: readonly string[]): Owners {
  const tops = new Int32Array(lines.length).fill(-1);
  const members = new Int32Array(lines.length).fill(-1);
  let [top, member, depth] = [-1, -1, 0];
  for (const [index, line] of lines.entries()) {
    const indent = indentOf(line);
    if (HEAD.test(indent === 0 ? line : line.slice(indent, indent + 1))) {
      if (indent === 0) [top, member, depth] = [index, -1, 0];
      // Inside anything but a class, members are not looked at.
      else if (depth === 0) depth = top >= 0 && /\bclass\b/.test(lines[top] ?? '') ? indent : -1;
      if (indent > 0 && indent === depth) member = index;
    }
    tops[index] = top;
    members[index] = member;
  }
  return { tops, members };
}

function indentOf(line: string): number {
  let indent = 0;
  while (line[indent] === ' ' || line[indent] === '\t') indent++;
  return indent;
}

/** A declaration at the top of a module, or a member of a class there. */
type Declaration = { readonly name: string; readonly start: number; readonly end: number };

/** Lists the declarations of a text; one that declares several names is listed for each. */
function declarationsIn(root: SyntaxNode, text: string): readonly Declaration[] {
  return nodesIn(root['body']).flatMap((statement) => {
    const { type, start, end, declaration } = statement;
    const isDefault = type === 'ExportDefaultDeclaration';
    const declared = isNode(declaration) ? declaration : statement;
    const names = isDefault ? ['default'] : declaredNames(statement);
    return names.flatMap((name) => [{ name, start, end }, ...membersOf(declared, name, text)]);
  });
}

function membersOf({ type, body }: SyntaxNode, name: string, text: string): readonly Declaration[] {
  if (type !== 'ClassDeclaration' || !isNode(body)) return [];
  return nodesIn(body['body']).flatMap(({ key, kind, static: isStatic, start, end }) => {
    if (!isNode(key)) return [];
    const words = [isStatic === true ? 'static' : '', kind === 'get' || kind === 'set' ? kind : ''];
    const own = [...words, text.slice(key.start, key.end)].filter((word) => word !== '').join(' ');
    return [{ name: `${name}.${own}`, start, end }];
  });
}

type Read = Versions<Names> & { readonly merged: Names };

function misplacedNames(read: Read): readonly string[] {
  const texts = Object.values(read);
  const names = new Set(texts.flatMap((some) => [...some.keys()]));
  return [...names].filter((name) => {
    const [head = name, member] = name.split('.');
    // A class that a side renamed takes its members along.
    if (member !== undefined && !texts.every((some) => some.has(head))) return false;
    const [base, ours, theirs, merged] = [read.base, read.ours, read.theirs, read.merged].map(
      (some) => some.get(name)?.text,
    );
    if (ours === theirs) return merged !== ours;
    if (theirs === base) return merged !== ours && !isRenamed(name, 'ours', read);
    if (ours === base) return merged !== theirs && !isRenamed(name, 'theirs', read);
    return merged === base;
  });
}

/**
 * Tells whether what the other side did within a name that one side added can be right: that side then renamed
 * or wrapped what the other one edited. Not where an edit of the other side is missing elsewhere.
 */
function isRenamed(name: string, side: 'ours' | 'theirs', read: Read): boolean {
  if (read.base.has(name)) return false;
  const other = read[side === 'ours' ? 'theirs' : 'ours'];
  return [...read.merged].every(([kept, { text }]) => {
    const [before, edited] = [read.base.get(kept)?.text, other.get(kept)?.text];
    const isEdited = before !== undefined && edited !== undefined && edited !== before;
    return !isEdited || edited === text || read[side].get(kept)?.text !== text;
  });
}

/** Returns the regions from the first to the last change in any version of a name; null where one is open. */
function touchedBy(
  name: string,
  read: Read,
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): LineSpan | null {
  let length = 0;
  const touched: number[] = [];
  for (const [index, region] of regions.entries()) {
    const merged = { start: length, end: length + linesOf(region, lines).length };
    length = merged.end;
    if (region.kind === 'all') continue;
    const isIn = (range: LineSpan, some: Names) =>
      some.get(name)?.lines.some(({ start, end }) => range.start <= end && range.end >= start) ===
      true;
    const isTouched =
      isIn(merged, read.merged) ||
      isIn(region.base, read.base) ||
      isIn(region.ours, read.ours) ||
      isIn(region.theirs, read.theirs);
    if (!isTouched) continue;
    if (region.kind === 'conflict') return null;
    touched.push(index);
  }
  if (touched.length === 0) return null;
  return { start: Math.min(...touched), end: Math.max(...touched) + 1 };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
