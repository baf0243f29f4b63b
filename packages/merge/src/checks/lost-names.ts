import { linesOf, type Region } from '../lines/regions.ts';
import { targetsIn } from '../syntax/bindings.ts';
import { outlineOf } from '../syntax/excerpt.ts';
import type { Language } from '../syntax/language.ts';
import { childrenOf, isNode, nodesIn, type Parse, type SyntaxNode } from '../syntax/parse.ts';
import { decodeLines } from '../syntax/parsed-side.ts';
import type { Versions } from '../versions.ts';

/** The property of a node that is a name of its own there, and refers to nothing, unless it is computed. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['MemberExpression', 'property'],
  ['OptionalMemberExpression', 'property'],
  ['TSQualifiedName', 'right'],
  ['ObjectProperty', 'key'],
  ['ObjectMethod', 'key'],
  ['ClassMethod', 'key'],
  ['ClassProperty', 'key'],
  ['TSDeclareMethod', 'key'],
  ['TSPropertySignature', 'key'],
  ['TSMethodSignature', 'key'],
  ['TSEnumMember', 'id'],
  ['ExportSpecifier', 'exported'],
]);
/** The properties of nodes that hold what they bind: of declarations, imports, functions and what catches. */
const BINDERS = ['id', 'local', 'params', 'parameters', 'param', 'parameter'];

const WORD = /[\w$\x80-\uffff]+/g;
/** Words that are no names. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'async await boolean break case catch class const continue default do else enum export extends false finally for ' +
    'from function if implements import in interface let new null number of private public readonly return static ' +
    'string super switch this throw true try type typeof undefined unknown var void while'
  ).split(' '),
);
/** A line of a comment, or with one. */
const ASIDE = /^\s*\*|\/[/*]/;
const SIDES = ['ours', 'theirs'] as const;
const OTHER = { ours: 'theirs', theirs: 'ours' } as const;

/**
 * Tells whether a merge without open conflicts uses a name that one side took away, be it an import, a variable, a
 * parameter or a private member, because the other side still uses it.
 *
 * False where one of the texts does not parse.
 */
export function usesLostName(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  language: Language,
  parse: Parse,
): boolean {
  const words = {
    ours: wordsThatMayBeLost('ours', regions, lines),
    theirs: wordsThatMayBeLost('theirs', regions, lines),
  };
  const all = new Set([...words.ours, ...words.theirs]);
  if (all.size === 0) return false;
  const namesOf = (text: readonly string[]) => readNames(text, all, language, parse);
  const base = namesOf(lines.base);
  if (base === null) return false;
  const lost = new Set<string>();
  for (const side of SIDES) {
    if (words[side].size === 0) continue;
    const names = namesOf(lines[side]);
    if (names === null) return false;
    // A name of the language or the platform is lost where one side uses it nowhere any more, such as `require`.
    for (const name of new Set([...base.bound, ...base.used])) {
      if (!names.bound.has(name) && !names.used.has(name)) lost.add(name);
    }
  }
  if (lost.size === 0) return false;
  const result = namesOf(regions.flatMap((region) => linesOf(region, lines)));
  if (result === null) return false;
  return [...lost].some((name) => result.used.has(name) && !result.bound.has(name));
}

/** Reads which of some words a program binds and uses; null where it does not parse. */
function readNames(
  lines: readonly string[],
  words: ReadonlySet<string>,
  language: Language,
  parse: Parse,
): Names | null {
  const isAbout = (line: string) => {
    for (const word of words) if (line.includes(word)) return true;
    return false;
  };
  const about = lines.flatMap((line, start) => (isAbout(line) ? [{ start, end: start + 1 }] : []));
  const names = new Set(decodeLines([...words]).split('\n'));
  for (const text of [outlineOf(lines, about), lines]) {
    const syntax = parse(decodeLines(text), language, { tokens: false });
    if (syntax !== null) return namesIn(syntax.root, names);
  }
  return null;
}

/** Returns the words that the base has where a side changed it, and that may come in where that side has them not. */
function wordsThatMayBeLost(
  name: (typeof SIDES)[number],
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): ReadonlySet<string> {
  const before = new Set<string>();
  const brought = new Set<string>();
  for (const region of regions) {
    if (region.kind === 'all') continue;
    const own = lines[name].slice(region[name].start, region[name].end);
    const base = lines.base.slice(region.base.start, region.base.end);
    if (region.kind !== OTHER[name]) for (const word of wordsOf(base).keys()) before.add(word);
    const mine = wordsOf(own);
    for (const [word, count] of wordsOf(linesOf(region, lines))) {
      if (count > (mine.get(word) ?? 0)) brought.add(word);
    }
  }
  const isDoubtful = (word: string) =>
    before.has(word) && !KEYWORDS.has(word) && !hasPlainly(lines[name], word);
  return new Set([...brought].filter(isDoubtful));
}

/** Tells whether a program surely uses or binds a name: some mention of it is no property, no key and in no text. */
function hasPlainly(lines: readonly string[], name: string): boolean {
  const spelled = name.replaceAll('$', '\\$');
  const plain = new RegExp(
    `^[^'"\`]*(?:^|[([{,=!&|?:<>+*;]|\\.\\.\\.)\\s*${spelled}(?:\\.\\w|\\s*(?:[)\\]};<>&|+*[]|,\\s*\\S))`,
  );
  return lines.some((line) => line.includes(name) && !ASIDE.test(line) && plain.test(line));
}

function wordsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    for (const [word] of line.matchAll(WORD)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** The names that a program binds in any scope, and those that it uses. */
type Names = { readonly bound: ReadonlySet<string>; readonly used: ReadonlySet<string> };

function namesIn(root: SyntaxNode, wanted: ReadonlySet<string>): Names {
  const [bound, used] = [new Set<string>(), new Set<string>()];
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { type } = node;
    const isImport = type === 'ImportDeclaration';
    for (const binder of isImport ? nodesIn(node['specifiers']) : [node]) {
      for (const name of boundBy(binder)) bound.add(name);
    }
    if (isImport) continue;
    const name = nameOf(node);
    if (name !== null) used.add(name);
    // Of a private name only the whole counts.
    if (isPrivate(node)) continue;
    const own = node['computed'] === true ? null : node[OWN_NAMES.get(type) ?? ''];
    for (const child of childrenOf(node)) if (child !== own || isPrivate(child)) open.push(child);
  }
  const isWanted = (name: string) => wanted.has(name.replace('#', ''));
  return { bound: new Set([...bound].filter(isWanted)), used: new Set([...used].filter(isWanted)) };
}

/** Returns the names that a node itself binds. */
function boundBy(node: SyntaxNode): readonly string[] {
  if (node.type === 'ExportSpecifier' || isPrivate(node)) return [];
  const names: string[] = [];
  for (const property of BINDERS) {
    const value = node[property];
    if (typeof value !== 'object') continue;
    for (const { name } of nodesIn(value).flatMap(targetsIn)) names.push(String(name));
  }
  const { key } = node;
  if (isNode(key) && isPrivate(key)) names.push(nameOf(key) ?? '');
  return names;
}

/** Returns the name that a node is a use of; null where it is none. */
function nameOf(node: SyntaxNode): string | null {
  const { type, name, id } = node;
  if (isPrivate(node)) return isNode(id) ? `#${id['name']}` : null;
  const isName = type === 'Identifier' || type === 'JSXIdentifier';
  return isName && typeof name === 'string' ? name : null;
}

function isPrivate({ type }: SyntaxNode): boolean {
  return type === 'PrivateName';
}
