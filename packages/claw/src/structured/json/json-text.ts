import { isUtf8 } from 'node:buffer';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** A JSON text with its root object, every node of which knows its position. */
export type JsonText = { readonly text: string; readonly root: Node };

/** The line, counted from 1, and the reason that a text could not be read. */
export type Fault = { readonly line: number; readonly reason: string };

/**
 * Reads strict JSON whose root is an object and in which no key occurs twice. A byte-order mark is not part
 * of the text.
 */
export function readJson(bytes: Buffer): JsonText | Fault {
  if (!isUtf8(bytes)) return { line: 1, reason: 'it is not UTF-8 text' };
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [error] = errors;
  if (error !== undefined) {
    return { line: lineAt(text, error.offset), reason: printParseErrorCode(error.error) };
  }
  if (root?.type !== 'object') return { line: 1, reason: 'it is not a JSON object' };
  const twice = repeatedKey(root);
  return twice === null
    ? { text, root }
    : { line: lineAt(text, twice.offset), reason: `the key ${textOf(text, twice)} is there twice` };
}

/** Puts back what `readJson` left out: the byte-order mark of the bytes that were read. */
export function jsonBytes(text: string, original: Buffer | null): Buffer {
  const hasMark = original?.subarray(0, 3).equals(BYTE_ORDER_MARK) === true;
  return hasMark ? Buffer.concat([BYTE_ORDER_MARK, Buffer.from(text)]) : Buffer.from(text);
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the members of an object in the order of the text; none for any other node. */
export function membersOf(node: Node | null): ReadonlyMap<string, Node> {
  const members = new Map<string, Node>();
  if (node?.type !== 'object') return members;
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key !== undefined && value !== undefined) members.set(String(key.value), value);
  }
  return members;
}

/** Returns the value at a path of keys, or null. */
export function valueAt(root: Node, path: readonly string[]): Node | null {
  let node: Node | null = root;
  for (const key of path) node = membersOf(node).get(key) ?? null;
  return node;
}

/** Returns the part of a text that a node covers. */
export function textOf(text: string, node: Node): string {
  return text.slice(node.offset, node.offset + node.length);
}

/** Returns a spelling that two nodes share exactly if their values are equal, whatever their layout. */
export function canonicalJson(node: Node): string {
  if (node.type === 'array') return `[${(node.children ?? []).map(canonicalJson).join(',')}]`;
  if (node.type !== 'object') return JSON.stringify(node.value);
  const members = [...membersOf(node)].map(
    ([key, value]) => `${JSON.stringify(key)}:${canonicalJson(value)}`,
  );
  return `{${members.sort().join(',')}}`;
}

function repeatedKey(node: Node): Node | null {
  if (node.type === 'object') {
    const seen = new Set<unknown>();
    for (const property of node.children ?? []) {
      const key = property.children?.[0];
      if (key !== undefined && seen.has(key.value)) return key;
      seen.add(key?.value);
    }
  }
  for (const child of node.children ?? []) {
    const found = repeatedKey(child);
    if (found !== null) return found;
  }
  return null;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
