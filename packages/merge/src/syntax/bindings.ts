import { isNode, nodesIn, type SyntaxNode } from './parse.ts';

/** A name at the top of a module, and what declares it. */
type Binding = {
  readonly name: string;
  readonly start: number;
  readonly kind: 'import' | 'type-import' | 'function' | 'interface' | 'type' | 'value';
};

/** A name that others can import, as a value or only as a type. */
type Exported = {
  readonly name: string;
  readonly start: number;
  readonly kind: 'value' | 'type' | 'declaration';
};

/** Node type → what it declares; what is not here declares nothing by name. */
const KINDS: ReadonlyMap<string, Binding['kind']> = new Map([
  ['FunctionDeclaration', 'function'],
  ['TSDeclareFunction', 'value'],
  ['ClassDeclaration', 'type'],
  ['TSEnumDeclaration', 'type'],
  ['TSInterfaceDeclaration', 'interface'],
  ['TSTypeAliasDeclaration', 'type'],
  ['TSModuleDeclaration', 'value'],
]);

/** Names with the offsets at which they are declared or exported, each more often than allowed. */
export type Repeated = { readonly name: string; readonly places: readonly number[] };

/**
 * Finds names that a module declares twice although the parser accepts it. The parser lets TypeScript import a name
 * that is declared beside it, and a script declare a function again.
 *
 * Overloads, a type and a value with one name, and a class with an interface are allowed.
 */
export function repeatedBindings(root: SyntaxNode): readonly Repeated[] {
  return repeatedAmong(nodesIn(root['body']).flatMap(bindingsOf), isClash);
}

/** Finds the names that a module exports twice, `default` among them. */
export function repeatedExports(root: SyntaxNode): readonly Repeated[] {
  return repeatedAmong(nodesIn(root['body']).flatMap(exportsOf), isDoubleExport);
}

function repeatedAmong<T extends { readonly name: string; readonly start: number }>(
  named: readonly T[],
  isRepeated: (one: T, other: T) => boolean,
): readonly Repeated[] {
  return [...Map.groupBy(named, ({ name }) => name)].flatMap(([name, same]) => {
    const repeated = same.filter((one) =>
      same.some((other) => one !== other && isRepeated(one, other)),
    );
    return repeated.length === 0 ? [] : [{ name, places: repeated.map(({ start }) => start) }];
  });
}

function isClash(one: Binding, other: Binding): boolean {
  const kinds = [one.kind, other.kind];
  if (kinds.includes('import')) return true;
  if (kinds.includes('type-import')) return !kinds.includes('value') && !kinds.includes('function');
  const isSame = one.kind === other.kind;
  return isSame && (one.kind === 'function' || one.kind === 'interface');
}

function isDoubleExport(one: Exported, other: Exported): boolean {
  if (one.kind === other.kind) return one.kind !== 'declaration';
  return one.kind !== 'type' && other.kind !== 'type';
}

function bindingsOf(statement: SyntaxNode): readonly Binding[] {
  if (statement.type === 'ImportDeclaration') {
    return nodesIn(statement['specifiers']).flatMap((specifier) => {
      const isType = [statement, specifier].some((node) => node['importKind'] === 'type');
      return named(specifier['local'], isType ? 'type-import' : 'import');
    });
  }
  if (statement.type === 'TSImportEqualsDeclaration') {
    return named(statement['id'], statement['importKind'] === 'type' ? 'type-import' : 'import');
  }
  return declaredBy(declarationIn(statement));
}

/** Returns the names that a statement at the top of a module declares; an import is no declaration. */
export function declaredNames(statement: SyntaxNode): readonly string[] {
  return declaredBy(declarationIn(statement)).map(({ name }) => name);
}

/** Returns the declaration in a statement, exported or not. */
function declarationIn(statement: SyntaxNode): SyntaxNode {
  const { type, declaration } = statement;
  const isExport = type === 'ExportNamedDeclaration' || type === 'ExportDefaultDeclaration';
  return isExport && isNode(declaration) ? declaration : statement;
}

function declaredBy(node: SyntaxNode): readonly Binding[] {
  if (node.type === 'VariableDeclaration') {
    const targets = nodesIn(node['declarations']).flatMap(({ id }) => nodesIn(id));
    return targets.flatMap(targetsIn).flatMap((target) => named(target, 'value'));
  }
  const kind = KINDS.get(node.type);
  return kind === undefined ? [] : named(node['id'], kind);
}

/** Returns the identifiers that a pattern binds. */
export function targetsIn(pattern: SyntaxNode): readonly SyntaxNode[] {
  const { type, properties, elements, value, argument, left } = pattern;
  if (type === 'Identifier') return [pattern];
  return [properties, elements, value, argument, left].flatMap(nodesIn).flatMap(targetsIn);
}

function exportsOf(statement: SyntaxNode): readonly Exported[] {
  const { type, declaration, specifiers, start } = statement;
  if (type === 'TSExportAssignment') return [{ name: '=', start, kind: 'value' }];
  if (type === 'ExportDefaultDeclaration') {
    const isType = isNode(declaration) && declaration.type === 'TSInterfaceDeclaration';
    const isSignature = isNode(declaration) && declaration.type === 'TSDeclareFunction';
    return isType || isSignature ? [] : [{ name: 'default', start, kind: 'value' }];
  }
  if (type !== 'ExportNamedDeclaration') return [];
  const declared = isNode(declaration) ? declaredBy(declaration) : [];
  return [
    ...declared.filter(({ kind }) => kind === 'value' || kind === 'function').map(asDeclaration),
    ...nodesIn(specifiers).flatMap((specifier) => {
      const isType = [statement, specifier].some((node) => node['exportKind'] === 'type');
      return named(specifier['exported'], isType ? ('type' as const) : ('value' as const));
    }),
  ];
}

function asDeclaration({ name, start }: Binding): Exported {
  return { name, start, kind: 'declaration' };
}

function named<Kind>(
  id: unknown,
  kind: Kind,
): readonly { name: string; start: number; kind: Kind }[] {
  if (!isNode(id)) return [];
  const name = id['name'] ?? id['value'];
  return typeof name === 'string' ? [{ name, start: id.start, kind }] : [];
}
