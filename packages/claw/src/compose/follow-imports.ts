import { posix } from 'node:path';
import {
  childrenOf,
  languageOf,
  nodesIn,
  parseSyntax,
  type SyntaxNode,
  type TreeFile,
} from '@patchclaw/merge';

/** A file's path at the time of its author, its present path, and the moves of other files. */
export type Places = {
  readonly from: string;
  readonly to: string;
  /** The present path of a file that the author knew. */
  readonly moved: (path: string) => string;
  /** True if there is such a file, by its present path. */
  readonly has: (path: string) => boolean;
};

/** A moved file that is imported by its new path. */
export type Followed = { readonly from: string; readonly to: string };

const RELATIVE = /(['"])(\.{1,2}(?:\/[^'"\n]*)?)\1/g;
const EXTENSIONS = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'json'];

/**
 * Rewrites the relative imports of a JavaScript or TypeScript file that mean a file which a release moved; all of
 * them if the file itself moved to another folder. Nothing else changes, and a file that cannot be parsed stays as it
 * is.
 *
 * @returns the same object where there is nothing to rewrite
 */
export function followImports(
  file: TreeFile,
  places: Places,
): { readonly file: TreeFile; readonly followed: readonly Followed[] } {
  const nothing = { file, followed: [] };
  const language = languageOf(places.from);
  if (language === null || language === 'json') return nothing;
  const text = file.bytes.toString('latin1');
  // The parser is loaded only where a look at the quoted texts says that there is work for it.
  const isNeeded = [...text.matchAll(RELATIVE)].some(
    ([, , quoted = '']) => rewritten(quoted, places) !== null,
  );
  if (!isNeeded) return nothing;
  const followed: Followed[] = [];
  let written = '';
  let end = 0;
  for (const specifier of relativeSpecifiers(places.from, text)) {
    const found = rewritten(specifier.text, places);
    if (found === null) continue;
    written += text.slice(end, specifier.start) + found.text;
    end = specifier.end;
    if (found.from !== found.to) followed.push({ from: found.from, to: found.to });
  }
  if (end === 0) return nothing;
  const bytes = Buffer.from(written + text.slice(end), 'latin1');
  return { file: { ...file, bytes }, followed };
}

/** A text in quotes that names a module; the offsets are those of the text between the quotes. */
type Specifier = { readonly text: string; readonly start: number; readonly end: number };

/** Calls of test runners whose first argument is a module. */
const MOCKS = /^(?:(?:do)?(?:un)?mock|(?:import|require)(?:Actual|Mock)|unstable_mockModule)$/i;

/**
 * Lists the relative specifiers of a text of JavaScript or TypeScript, in order: of imports and exports of
 * any form, `require`, `new URL(…, import.meta.url)`, and of modules that a test mocks.
 *
 * @param text read as latin1, so that offsets are those of bytes
 * @returns none where the text cannot be parsed
 */
function relativeSpecifiers(path: string, text: string): readonly Specifier[] {
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

type Rewritten = Followed & { readonly text: string };

/** @param specifier read as latin1 */
function rewritten(specifier: string, { from, to, moved, has }: Places): Rewritten | null {
  const named = Buffer.from(specifier, 'latin1').toString('utf8');
  const [, path = '', query = ''] = /^([^?#]*)(.*)$/.exec(named) ?? [];
  const target = posix.join(posix.dirname(from), path).replace(/\/$/, '');
  if (target.startsWith('..')) return null;
  const meanings = meaningsOf(target);
  const isHere = posix.dirname(from) === posix.dirname(to);
  // Looking whether a file is there may read it.
  if (isHere && meanings.every(({ file }) => moved(file) === file)) return null;
  const meant =
    meanings.find(({ file }) => has(moved(file))) ??
    meanings.find(({ file }) => moved(file) !== file);
  if (meant === undefined) return null;
  const present = moved(meant.file);
  if (isHere && present === meant.file) return null;
  const relative = posix.relative(posix.dirname(to), meant.spelled(present));
  const spelled = /^\.\.?(?:\/|$)/.test(relative) ? relative : `./${relative}`;
  const text = Buffer.from(spelled + query).toString('latin1');
  return text === specifier ? null : { text, from: meant.file, to: present };
}

/** A file that a path may mean, and how the path is spelled once the file is elsewhere. */
type Meaning = { readonly file: string; readonly spelled: (present: string) => string };

/** Lists the files that a specifier may mean, in the order in which SyntaxNode and compilers look. */
function meaningsOf(target: string): readonly Meaning[] {
  const own = /\.([cm]?jsx?)$/.exec(target)?.[1];
  const stem = own === undefined ? target : target.slice(0, -own.length - 1);
  const typed =
    own === undefined ? [] : [own.replace('js', 'ts'), ...(own === 'js' ? ['tsx'] : [])];
  const bare = (present: string) => present.replace(/\.[^./]+$/, '');
  return [
    { file: target, spelled: (present) => present },
    ...typed.map((extension) => ({
      file: `${stem}.${extension}`,
      spelled: (present: string) =>
        present.endsWith(`.${extension}`) ? `${bare(present)}.${own}` : present,
    })),
    ...EXTENSIONS.map((extension) => ({ file: `${target}.${extension}`, spelled: bare })),
    ...EXTENSIONS.map((extension) => ({
      file: `${target}/index.${extension}`,
      spelled: (present: string) =>
        /\/index\.[^./]+$/.test(present) ? posix.dirname(present) : bare(present),
    })),
  ];
}
