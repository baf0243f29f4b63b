import { listsOf, type NamedList } from './members.ts';
import { childrenOf, isNode, type Node, nodesIn } from './node.ts';
import type { Syntax } from './parse.ts';

/** The head of a line up to a name that it declares. */
const DECLARING = /\b(?:const|let|var|function|class|interface|type|enum|import)\b[^=;]*$/;

/** A name that stands more often than it may, and the offsets at which it does, or may do so. */
export type Duplicate = { readonly key: string; readonly places: readonly number[] };

/**
 * Names that a text declares twice in one scope, exports twice, or has twice as the key of an
 * object or the member of a class, an interface or an enum.
 */
export function duplicatesIn(text: string, syntax: Syntax): readonly Duplicate[] {
  const inLists = listsOf(syntax.root, text).flatMap(repeatedIn);
  const redeclared = syntax.redeclared.map(({ name, start }) => {
    // The parser tells where the second one is; the first is among the other mentions.
    return { key: `name ${name}`, places: [start, ...mentionsOf(name, text)] };
  });
  return [...inLists, ...redeclared, ...repeatedFunctions(syntax.root)];
}

function repeatedIn({ kind, path, members }: NamedList): readonly Duplicate[] {
  // A second import of one name is a redeclaration, a second import of one file is none.
  if (kind === 'imports' || kind === 'specifiers') return [];
  const named = members.flatMap(({ names, isOverload, start }) =>
    isOverload ? [] : (names ?? []).map((name) => ({ name, start })),
  );
  return repeated(named).map(({ key, places }) => ({ key: `${kind} ${path} ${key}`, places }));
}

// In a script, as opposed to a module, the parser lets a function be declared again.
function repeatedFunctions(root: Node): readonly Duplicate[] {
  const statements = nodesIn(root['body']);
  const declared = [...statements, ...statements.flatMap(childrenOf)].flatMap(({ type, id }) => {
    if (type !== 'FunctionDeclaration' || !isNode(id)) return [];
    return [{ name: String(id['name']), start: id.start }];
  });
  return repeated(declared).map(({ key, places }) => ({ key: `name ${key}`, places }));
}

function repeated(
  named: readonly { readonly name: string; readonly start: number }[],
): readonly Duplicate[] {
  return [...Map.groupBy(named, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([key, places]) => ({ key, places: places.map(({ start }) => start) }));
}

/** Where a name stands behind a word that declares it; if that is only one place, wherever it stands. */
function mentionsOf(name: string, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(name); at >= 0 && name !== ''; at = text.indexOf(name, at + 1)) {
    places.push(at);
  }
  const declared = places.filter((at) =>
    DECLARING.test(text.slice(text.lastIndexOf('\n', at) + 1, at)),
  );
  return declared.length > 1 ? declared : places;
}
