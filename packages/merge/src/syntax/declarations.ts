import { declaredNames } from './bindings.ts';
import { isNode, type Node, nodesIn } from './node.ts';

/** A declaration at the top of a module, or a member of a class there. */
export type Declaration = { readonly name: string; readonly start: number; readonly end: number };

/** Lists the declarations of a text; one that declares several names is listed for each. */
export function declarationsIn(root: Node, text: string): readonly Declaration[] {
  return nodesIn(root['body']).flatMap((statement) => {
    const { type, start, end, declaration } = statement;
    const isDefault = type === 'ExportDefaultDeclaration';
    const declared = isNode(declaration) ? declaration : statement;
    const names = isDefault ? ['default'] : declaredNames(statement);
    return names.flatMap((name) => [{ name, start, end }, ...membersOf(declared, name, text)]);
  });
}

function membersOf({ type, body }: Node, name: string, text: string): readonly Declaration[] {
  if (type !== 'ClassDeclaration' || !isNode(body)) return [];
  return nodesIn(body['body']).flatMap(({ key, kind, static: isStatic, start, end }) => {
    if (!isNode(key)) return [];
    const words = [isStatic === true ? 'static' : '', kind === 'get' || kind === 'set' ? kind : ''];
    const own = [...words, text.slice(key.start, key.end)].filter((word) => word !== '').join(' ');
    return [{ name: `${name}.${own}`, start, end }];
  });
}
