import type { Versions } from '../../tree.ts';
import { importedNames } from '../syntax/bindings.ts';
import type { Language } from '../syntax/language.ts';
import { childrenOf, isNode, type Node } from '../syntax/node.ts';
import type { Parse } from '../syntax/parse.ts';
import { decodeLines } from '../syntax/side.ts';

/** The property of a node that is a name of its own there, and refers to nothing, unless it is computed. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['MemberExpression', 'property'],
  ['OptionalMemberExpression', 'property'],
  ['TSQualifiedName', 'right'],
  ['ObjectProperty', 'key'],
  ['ObjectMethod', 'key'],
  ['ClassMethod', 'key'],
  ['ClassProperty', 'key'],
  ['TSPropertySignature', 'key'],
  ['TSMethodSignature', 'key'],
  ['TSEnumMember', 'id'],
  ['ExportSpecifier', 'exported'],
]);

/**
 * Tells whether a merge without open conflicts uses an import that one side took away, because the other side
 * still uses it.
 *
 * False where one of the texts does not parse.
 */
export function usesLostImport(
  merged: readonly string[],
  lines: Versions<readonly string[]>,
  language: Language,
  parse: Parse,
): boolean {
  const rootOf = (text: readonly string[]) =>
    parse(decodeLines(text), language, { tokens: false })?.root ?? null;
  const base = rootOf(lines.base);
  const before = base === null ? [] : importedNames(base);
  if (before.length === 0) return false;
  const [ours, theirs] = [rootOf(lines.ours), rootOf(lines.theirs)];
  if (ours === null || theirs === null) return false;
  const lost = [ours, theirs].flatMap((side) => {
    const kept = new Set(importedNames(side));
    const gone = before.filter((name) => !kept.has(name));
    if (gone.length === 0) return [];
    const used = usedNames(side);
    return gone.filter((name) => !used.has(name));
  });
  if (lost.length === 0) return false;
  const result = rootOf(merged);
  if (result === null) return false;
  const there = new Set(importedNames(result));
  const used = usedNames(result);
  return lost.some((name) => used.has(name) && !there.has(name));
}

/** Returns the names that a program uses or declares, but for those of properties and imports. */
function usedNames(root: Node): ReadonlySet<string> {
  const names = new Set<string>();
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { type, name } = node;
    if (type === 'ImportDeclaration') continue;
    if ((type === 'Identifier' || type === 'JSXIdentifier') && typeof name === 'string') {
      names.add(name);
    }
    const own = node['computed'] === true ? null : node[OWN_NAMES.get(type) ?? ''];
    open.push(...childrenOf(node).filter((child) => !isNode(own) || child !== own));
  }
  return names;
}
