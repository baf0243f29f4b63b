import { childrenOf, languageOf, nodesIn, parseSyntax, type SyntaxNode } from '@patchclaw/merge';

/** A text in quotes that names a module; the offsets are those of the text between the quotes. */
export type Specifier = { readonly text: string; readonly start: number; readonly end: number };

/** Calls of test runners whose first argument is a module. */
const MOCKS = /^(?:(?:do)?(?:un)?mock|(?:import|require)(?:Actual|Mock)|unstable_mockModule)$/i;

/**
 * Lists the relative specifiers of a text of JavaScript or TypeScript, in order: of imports and exports of
 * any form, `require`, `new URL(…, import.meta.url)`, and of modules that a test mocks.
 *
 * @param text read as latin1, so that offsets are those of bytes
 * @returns none where the text cannot be parsed
 */
export function relativeSpecifiers(path: string, text: string): readonly Specifier[] {
  const language = languageOf(path);
  if (language === null || language === 'json') return [];
  const syntax = parseSyntax(text, language, { tokens: false });
  if (syntax === null) return [];
  const found: Specifier[] = [];
  const waiting = [syntax.root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    waiting.push(...childrenOf(node));
    for (const literal of namingModules(node)) {
      const specifier = text.slice(literal.start + 1, literal.end - 1);
      if (literal.type !== 'StringLiteral' || !/^\.{1,2}(?:\/|$)/.test(specifier)) continue;
      found.push({ text: specifier, start: literal.start + 1, end: literal.end - 1 });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Returns the literals of a node that name modules. */
function namingModules(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return nodesIn(node['source']);
    case 'TSExternalModuleReference':
      return nodesIn(node['expression']);
    case 'TSImportType':
      return nodesIn(node['source'] ?? node['argument']);
    case 'CallExpression':
      return loadsModule(node) ? nodesIn(node['arguments']).slice(0, 1) : [];
    case 'NewExpression':
      return isOwnUrl(node) ? nodesIn(node['arguments']).slice(0, 1) : [];
    default:
      return [];
  }
}

function loadsModule({ callee }: SyntaxNode): boolean {
  const [called] = nodesIn(callee);
  if (called === undefined) return false;
  if (called.type === 'Import') return true;
  if (called.type !== 'MemberExpression') return nameOf(called) === 'require';
  const [owner] = nodesIn(called['object']);
  const [member] = nodesIn(called['property']);
  const name = member === undefined ? '' : nameOf(member);
  if (name === 'resolve') return owner?.type === 'MetaProperty' || nameOf(owner) === 'require';
  // node:test has `mock.module`, and `context.mock.module`.
  if (name === 'module') return nameOf(owner) === 'mock' || nameOf(memberOf(owner)) === 'mock';
  return MOCKS.test(name);
}

/** Recognises `new URL(…, import.meta.url)`. */
function isOwnUrl(node: SyntaxNode): boolean {
  const [called] = nodesIn(node['callee']);
  const place = nodesIn(node['arguments'])[1];
  const [owner] = nodesIn(place?.['object']);
  return nameOf(called) === 'URL' && owner?.type === 'MetaProperty';
}

function memberOf(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return nodesIn(node?.['property'])[0];
}

function nameOf(node: SyntaxNode | undefined): string {
  return node?.type === 'Identifier' ? String(node['name']) : '';
}
