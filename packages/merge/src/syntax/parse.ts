import { createRequire } from 'node:module';
import type { ParserOptions, ParserPlugin } from '@babel/parser';
import type { Language } from './language.ts';

/** A token or comment; `kind` tells those whose text can be laid out in more than one way. */
export type Token = {
  readonly kind: 'plain' | 'string' | 'comment' | 'jsx';
  readonly start: number;
  readonly end: number;
};

/** A name that is declared once more at this offset. */
export type Redeclaration = { readonly name: string; readonly start: number };

/** The reason that a text cannot be read, and its line, counted from 1. */
export type SyntaxFault = { readonly line: number; readonly reason: string };

/** A node of a syntax tree; offsets count characters, the end is exclusive. */
export type SyntaxNode = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

export type Syntax = {
  readonly root: SyntaxNode;
  /** In order, comments among them; empty unless asked for. */
  readonly tokens: readonly Token[];
  readonly redeclared: readonly Redeclaration[];
  /** True where no class around declares a private name, as in a part of a program. */
  readonly hasUndeclared: boolean;
};

/** Codes of errors that the parser reports although it understood the text. */
const REDECLARED: ReadonlySet<string> = new Set([
  'VarRedeclaration',
  'DuplicateExport',
  'DuplicateDefaultExport',
  'DuplicateConstructor',
  'DuplicateProto',
  'PrivateNameRedeclaration',
]);

const UNDECLARED = 'InvalidPrivateFieldResolution';

/** Exports are counted without the parser's help, which TypeScript does not get. */
const EXPORTED: ReadonlySet<string> = new Set(['DuplicateExport', 'DuplicateDefaultExport']);

const OPTIONS: ParserOptions = {
  sourceType: 'unambiguous',
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowUndeclaredExports: true,
  attachComment: false,
  errorRecovery: true,
  // Offsets are enough.
  locations: false,
};

const PLUGINS: Readonly<Record<Language, ParserPlugin[]>> = {
  typescript: ['typescript', 'decorators-legacy'],
  declarations: [['typescript', { dts: true }], 'decorators-legacy'],
  tsx: ['typescript', 'jsx', 'decorators-legacy'],
  javascript: ['jsx', 'decorators'],
  json: [],
};

// Called at the first open conflict: a command that merges nothing must not pay for the parser.
const require = createRequire(import.meta.url);

/** A parser, as {@link parseSyntax} is one. */
export type Parse = typeof parseSyntax;

/** Makes a parser that reads each text once: one merge asks for its texts again and again. */
export function memoizeParse(): Parse {
  const known = new Map<string, { readonly syntax: Syntax | null; readonly tokens: boolean }>();
  return (text, language, { tokens }) => {
    const before = known.get(text);
    if (before !== undefined && (before.tokens || !tokens)) return before.syntax;
    const syntax = parseSyntax(text, language, { tokens });
    known.set(text, { syntax, tokens });
    return syntax;
  };
}

/**
 * Parses a text; null where it is not of that language. A second declaration of a name is no error here, nor is a private
 * name without one.
 */
export function parseSyntax(
  text: string,
  language: Language,
  { tokens }: { readonly tokens: boolean },
): Syntax | null {
  try {
    const file = parse(text, language, tokens);
    const isReadable = ({ reasonCode }: { readonly reasonCode: string }) =>
      REDECLARED.has(reasonCode) || reasonCode === UNDECLARED;
    if (!file.errors.every(isReadable)) return null;
    const hasUndeclared = file.errors.some(({ reasonCode }) => reasonCode === UNDECLARED);
    const errors = file.errors.filter(
      ({ reasonCode }) => reasonCode !== UNDECLARED && !EXPORTED.has(reasonCode),
    );
    const redeclared = errors.map(({ loc }) => {
      const start = loc.index;
      return { name: /^#?[\w$\x80-\uffff]*/.exec(text.slice(start))?.[0] ?? '', start };
    });
    const root: unknown = 'program' in file ? file.program : file;
    if (!isNode(root)) return null;
    return { root, tokens: tokensOf(file.tokens ?? []), redeclared, hasUndeclared };
  } catch {
    // Not of that language, nested too deep for the parser, or no parser there: the lines decide.
    return null;
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'start' in value &&
    typeof value.start === 'number' &&
    'end' in value &&
    typeof value.end === 'number'
  );
}

/** Returns the nodes that a property holds, be it one, a list of them, or none. */
export function nodesIn(value: unknown): readonly SyntaxNode[] {
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

/** Returns the nodes directly below one, in no particular order. */
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  // Called for every node of a text: plain loops, and no look at what never holds a node.
  for (const name in node) {
    const value = node[name];
    if (typeof value !== 'object' || value === null) continue;
    if (name === 'name' || name === 'loc' || name === 'extra') continue;
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) children.push(item);
    } else if (isNode(value)) children.push(value);
  }
  return children;
}

/** Finds the first syntax error of a text; null where it parses. */
export function syntaxFault(text: string, language: Language): SyntaxFault | null {
  try {
    const fault = parse(text, language, false).errors.find(
      ({ reasonCode }) => !REDECLARED.has(reasonCode),
    );
    return fault === undefined ? null : faultOf(fault);
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): SyntaxFault {
  const reason = error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, '') : '';
  const loc = error instanceof Error && 'loc' in error ? error.loc : null;
  const isPlace = typeof loc === 'object' && loc !== null && 'line' in loc;
  return { line: isPlace ? Number(loc.line) : 1, reason };
}

function parse(text: string, language: Language, tokens: boolean) {
  const parser: typeof import('@babel/parser') = require('@babel/parser');
  const read = language === 'json' ? parser.parseExpression : parser.parse;
  return read(text, { ...OPTIONS, tokens, plugins: PLUGINS[language] });
}

function tokensOf(tokens: readonly unknown[]): readonly Token[] {
  const found: Token[] = [];
  for (const token of tokens) {
    const kind = kindOf(token);
    if (kind === null || !hasRange(token) || token.start === token.end) continue;
    found.push({ kind, start: token.start, end: token.end });
  }
  return found;
}

function kindOf(token: unknown): Token['kind'] | null {
  if (typeof token !== 'object' || token === null || !('type' in token)) return null;
  const { type } = token;
  if (typeof type === 'string') return 'comment';
  if (typeof type !== 'object' || type === null || !('label' in type)) return null;
  if (type.label === 'eof') return null;
  if (type.label === 'string') return 'string';
  return type.label === 'jsxText' ? 'jsx' : 'plain';
}

function hasRange(token: unknown): token is { readonly start: number; readonly end: number } {
  return (
    typeof token === 'object' &&
    token !== null &&
    'start' in token &&
    typeof token.start === 'number' &&
    'end' in token &&
    typeof token.end === 'number'
  );
}

/** Makes a reader that reads each text once: one merge asks for its lines and texts again and again. */
export function readOnce<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly value: T }>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before.value;
    const value = read(text);
    known.set(text, { value });
    return value;
  };
}
