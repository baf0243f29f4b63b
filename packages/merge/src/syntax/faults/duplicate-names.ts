import { repeatedBindings, repeatedExports } from '../bindings.ts';
import { listsOf, type NamedList } from '../named-lists.ts';
import { isNode, nodesIn, type Syntax, type SyntaxNode } from '../parse.ts';

/** The head of a line up to a name that it declares. */
const DECLARING = /\b(?:const|let|var|function|class|interface|type|enum|import)\b[^=;]*$/;

/**
 * A name that occurs more often than it may, and the offsets of all its possible occurrences. `key`
 * distinguishes it from the same name in another list.
 */
export type Duplicate = {
  readonly key: string;
  readonly name: string;
  readonly places: readonly number[];
};

/**
 * Finds the names that a text declares twice in one scope or exports twice. Includes repeated keys of an
 * object, members of a class, an interface or an enum, and labels of a case.
 */
export function duplicatesIn(text: string, syntax: Syntax): readonly Duplicate[] {
  const { root, redeclared } = syntax;
  const switches: SyntaxNode[] = [];
  const lists = listsOf(root, text, (node) => {
    if (node.type === 'SwitchStatement') switches.push(node);
  });
  const found = [
    ...lists.flatMap(repeatedIn),
    ...repeatedBindings(root).map((one) => ({ key: `name ${one.name}`, ...one })),
    ...repeatedExports(root).map((one) => ({ key: `export ${one.name}`, ...one })),
    ...redeclared.map(({ name, start }) => {
      // The parser tells where the second one is; the first is among the other mentions.
      return { key: `name ${name}`, name, places: [start, ...mentionsOf(name, text)] };
    }),
    ...switches.flatMap((one) => repeatedCases(one, text)),
  ];
  // A name that was found in two ways counts once: the first way knows the places better.
  return [...new Map(found.toReversed().map((one) => [one.key, one])).values()].toReversed();
}

function repeatedIn({ kind, path, members }: NamedList): readonly Duplicate[] {
  // A second import of one name is a redeclaration, a second import of one file is none.
  if (kind === 'imports' || kind === 'specifiers' || kind === 'pattern') return [];
  const named = members().flatMap(({ names, isOverload, start }) =>
    isOverload ? [] : (names ?? []).map((name) => ({ name, start })),
  );
  // The list's number may change with any list before it.
  const around = path.replace(/ \d+$/, '');
  return repeated(named).map(({ name, places }) => ({
    key: `${kind} ${around} ${name}`,
    name: name.replace(/^(?:get|set) /, ''),
    places,
  }));
}

/** Labels that a switch has twice: the second one is never reached. */
function repeatedCases({ discriminant, cases }: SyntaxNode, text: string): readonly Duplicate[] {
  if (!isNode(discriminant)) return [];
  const labels = nodesIn(cases).flatMap(({ test, start }) =>
    isNode(test) ? [{ name: labelOf(test, text), start }] : [],
  );
  const about = text.slice(discriminant.start, discriminant.end);
  return repeated(labels).map(({ name, places }) => ({
    key: `case ${about} ${name}`,
    name: `case ${name}`,
    places,
  }));
}

function labelOf(test: SyntaxNode, text: string): string {
  return test.type === 'StringLiteral'
    ? JSON.stringify(test['value'])
    : text.slice(test.start, test.end);
}

/** Returns the names that occur more than once. */
export function repeated(
  named: readonly { readonly name: string; readonly start: number }[],
): readonly Omit<Duplicate, 'key'>[] {
  return [...Map.groupBy(named, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => ({ name, places: places.map(({ start }) => start) }));
}

/** Finds a name after a word that declares it; if that is only one place, everywhere. */
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
