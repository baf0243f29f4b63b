import { childrenOf, isNode, nodesIn, type SyntaxNode } from './parse.ts';

/** The names that one member declares; null for a member without one, whose position has meaning. */
export type Member = {
  readonly names: readonly string[] | null;
  readonly start: number;
  readonly end: number;
  /** True if a second one of the same name is no mistake: signatures of one method. */
  readonly isOverload: boolean;
  /** True for a declaration among the statements of a module. */
  readonly isDeclaration: boolean;
};

export type ListKind =
  | 'imports'
  | 'specifiers'
  | 'pattern'
  | 'object'
  | 'interface'
  | 'enum'
  | 'class'
  | 'union';

/** A list of named members in which order has no meaning. `open` and `close` are the edges of its inside. */
export type NamedList = {
  readonly kind: ListKind;
  /** The names around it, so that the same list can be found in another version. */
  readonly path: string;
  readonly open: number;
  readonly close: number;
  /** Reads the members; most lists are only passed. */
  readonly members: () => readonly Member[];
};

/** Node type → which kind of list it is, and the property that holds its members. */
const LISTS: ReadonlyMap<string, readonly [ListKind, string]> = new Map([
  ['ObjectExpression', ['object', 'properties']],
  ['TSInterfaceBody', ['interface', 'body']],
  ['TSTypeLiteral', ['interface', 'members']],
  ['TSEnumBody', ['enum', 'members']],
  ['ClassBody', ['class', 'body']],
]);

/** The types of lists that are read in a way of their own. */
const OTHER_LISTS: ReadonlySet<string> = new Set([
  'Program',
  'TSUnionType',
  'ImportDeclaration',
  'ObjectPattern',
]);

/** Declarations that say the same in any order. */
const MOVABLE: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSEnumDeclaration',
]);
/** The way to an object, and the module that it is if it is required. */
const ORIGIN = /^[^({]*(?:\(['"][^'"]*['"]\))?/;
/** Characters of a line before a member of a union, at most. */
const MAX_BEFORE = 200;
const OVERLOADS: ReadonlySet<string> = new Set(['TSMethodSignature', 'TSDeclareMethod']);

/**
 * Returns all lists of a text, outer ones before those inside them.
 *
 * @param visit is called for each node, in no particular order
 */
export function listsOf(
  root: SyntaxNode,
  text: string,
  visit?: (node: SyntaxNode) => void,
): readonly NamedList[] {
  const lists: NamedList[] = [];
  const taken = new Map<string, number>();
  const todo: Place[] = [{ node: root, around: null, path: null }];
  // A stack of our own: an expression can nest deeper than calls may.
  for (let place = todo.pop(); place !== undefined; place = todo.pop()) {
    const { node } = place;
    visit?.(node);
    if (isList(node)) {
      const path = pathOf(place, text);
      const list = listAt(node, path, text);
      if (list !== null) {
        const key = `${list.kind} ${path}`;
        const count = taken.get(key) ?? 0;
        taken.set(key, count + 1);
        lists.push({ ...list, path: `${path} ${count}` });
      }
    }
    const children = childrenOf(node);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child !== undefined) todo.push({ node: child, around: place, path: null });
    }
  }
  return lists;
}

/** A node and those around it; most have no list within, so that their names are read when they are asked for. */
type Place = { readonly node: SyntaxNode; readonly around: Place | null; path: string | null };

function pathOf(place: Place, text: string): string {
  const open: Place[] = [];
  for (let at: Place | null = place; at !== null && at.path === null; at = at.around) open.push(at);
  for (const at of open.toReversed()) {
    at.path = (at.around?.path ?? '') + labelOf(at.node, text);
  }
  return place.path ?? '';
}

function isList({ type }: SyntaxNode): boolean {
  return LISTS.has(type) || OTHER_LISTS.has(type);
}

function listAt(node: SyntaxNode, path: string, text: string): NamedList | null {
  if (node.type === 'Program') {
    const statements = [...nodesIn(node['directives']), ...nodesIn(node['body'])];
    const members = lazily(() => statements.map((statement) => memberOf(statement, text)));
    // A first line for the shell is not part of the list.
    const open = text.startsWith('#!') ? Math.max(0, text.indexOf('\n')) : 0;
    return { kind: 'imports', path, open, close: text.length, members };
  }
  if (node.type === 'TSUnionType') return unionOf(node, path, text);
  if (node.type === 'ImportDeclaration') return specifiersOf(node, path, text);
  if (node.type === 'ObjectPattern') return patternOf(node, path, text);
  const [kind, property] = LISTS.get(node.type) ?? [];
  if (kind === undefined || property === undefined) return null;
  const members = lazily(() => nodesIn(node[property]).map((member) => memberOf(member, text)));
  return { kind, path, open: node.start + 1, close: node.end - 1, members };
}

function specifiersOf(node: SyntaxNode, path: string, text: string): NamedList | null {
  const specifiers = nodesIn(node['specifiers']).filter(({ type }) => type === 'ImportSpecifier');
  const [first, last] = [specifiers[0], specifiers.at(-1)];
  if (first === undefined || last === undefined) return null;
  const open = text.lastIndexOf('{', first.start) + 1;
  const close = text.indexOf('}', last.end);
  const members = lazily(() => specifiers.map((specifier) => memberOf(specifier, text)));
  return { kind: 'specifiers', path, open, close, members };
}

/** Returns the names that an object is taken apart into; null where one of them gets all the others. */
function patternOf(node: SyntaxNode, path: string, text: string): NamedList | null {
  const properties = nodesIn(node['properties']);
  const last = properties.at(-1);
  if (last === undefined || last.type === 'RestElement') return null;
  // A type that follows is part of the node.
  const close = text.indexOf('}', last.end);
  const members = lazily(() =>
    properties.map((property) => ({ ...memberOf(property, text), names: boundName(property) })),
  );
  return { kind: 'pattern', path, open: node.start + 1, close, members };
}

/** Returns the name that a property binds; null where it binds others, or may need others: by its key, or its own value. */
function boundName({ computed, value }: SyntaxNode): readonly string[] | null {
  return computed !== true && isNode(value) && value.type === 'Identifier' ? [nameOf(value)] : null;
}

/** Returns the members of a union that has each on a line of its own, after a bar. */
function unionOf(node: SyntaxNode, path: string, text: string): NamedList | null {
  const types = nodesIn(node['types']);
  if (!types.every(({ start }) => isAfterBar(start, text))) return null;
  const members = lazily(() =>
    types.map(({ start, end }) => {
      const names = [text.slice(start, end)];
      return { names, start, end, isOverload: false, isDeclaration: false };
    }),
  );
  const first = types[0]?.start ?? node.start;
  const open = text.lastIndexOf('\n', first);
  // A semicolon after the last member is on its line, and stays behind whatever is put in.
  const [rest = ''] = /^;?[ \t]*\n?/.exec(text.slice(node.end, node.end + 200)) ?? [];
  return { kind: 'union', path, open, close: node.end + rest.length, members };
}

/** Tells whether nothing is before a place but a bar on the same line, and not too much space. */
function isAfterBar(place: number, text: string): boolean {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let bar = place - 1;
  while (isSpace(bar)) bar--;
  if (text[bar] !== '|') return false;
  let line = bar - 1;
  while (isSpace(line)) line--;
  return text[line] === '\n' && line >= place - MAX_BEFORE;
}

/** Makes a reader that reads once, and only when it is asked. */
export function lazily<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

function memberOf(node: SyntaxNode, text: string): Member {
  const { type, start, end } = node;
  const declared = declaredHere(node);
  const names = declared ?? namesOf(node, text);
  return { names, start, end, isOverload: OVERLOADS.has(type), isDeclaration: declared !== null };
}

/** Returns the name of a declaration that may stand anywhere among others; null for all else. */
function declaredHere(node: SyntaxNode): readonly string[] | null {
  const { declaration } = node;
  const isExport = node.type === 'ExportNamedDeclaration';
  const declared = isExport && isNode(declaration) ? declaration : node;
  if (!MOVABLE.has(declared.type) || nodesIn(declared['decorators']).length > 0) return null;
  return [nameOf(declared['id'])];
}

function namesOf(node: SyntaxNode, text: string): readonly string[] | null {
  switch (node.type) {
    case 'ImportDeclaration':
      return importedNames(node);
    case 'ImportSpecifier':
      return [keyName(node['local'], text)];
    case 'TSEnumMember':
      return [keyName(node['id'], text)];
    default:
      return isNode(node['key']) ? propertyNames(node, node['key'], text) : null;
  }
}

/** Returns the names that an import binds; where it binds none, what it runs. */
function importedNames(node: SyntaxNode): readonly string[] {
  const bound = nodesIn(node['specifiers']).map((specifier) => nameOf(specifier['local']));
  return bound.length > 0 ? bound : [`from ${literalOf(node['source'])}`];
}

/** Returns the names of a property. A getter and a setter of one name do not clash; a property is both. */
function propertyNames(node: SyntaxNode, key: SyntaxNode, text: string): readonly string[] {
  const bare = node['computed'] === true ? `[${spelling(key, text)}]` : keyName(key, text);
  const name = node['static'] === true ? `static ${bare}` : bare;
  if (node['kind'] === 'get') return [`get ${name}`];
  if (node['kind'] === 'set') return [`set ${name}`];
  return [`get ${name}`, `set ${name}`];
}

function keyName(key: unknown, text: string): string {
  if (!isNode(key)) return '';
  if (key.type === 'Identifier') return nameOf(key);
  if (key.type === 'StringLiteral' || key.type === 'NumericLiteral') return literalOf(key);
  return spelling(key, text);
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : '';
}

function literalOf(node: unknown): string {
  return isNode(node) ? String(node['value']) : '';
}

function spelling({ start, end }: SyntaxNode, text: string): string {
  return text.slice(start, end);
}

/** Returns a label that tells a node from its neighbours: the name it declares, or the function it calls. */
function labelOf(node: SyntaxNode, text: string): string {
  const { id, init, key, source, callee } = node;
  // What an object is taken apart into changes, and what is passed to get it; less so the way to it.
  if (isNode(id) && id.type === 'ObjectPattern') {
    return isNode(init) ? `/= ${ORIGIN.exec(spelling(init, text).slice(0, 80))?.[0]}` : '';
  }
  if (isNode(id)) return `/${keyName(id, text)}`;
  if (isNode(key)) return `/${keyName(key, text)}`;
  if (isNode(source)) return `/from ${literalOf(source)}`;
  return isNode(callee) ? `/${spelling(callee, text).slice(0, 80)}()` : '';
}
