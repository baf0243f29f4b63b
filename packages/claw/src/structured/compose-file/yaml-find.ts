import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { splitLines } from '../json/keyed-lines.ts';
import { keyText } from './yaml-text.ts';

/** A key and its value in a YAML text; positions count terminators as one character. */
export type FoundPair = {
  readonly pair: { readonly key: Node; readonly value: Node | null };
  readonly counter: LineCounter;
  readonly isInBraces: boolean;
};

/** Finds a key that the text itself writes, not one that comes from an alias. */
export function findPair(text: string, keys: readonly string[]): FoundPair | null {
  const counter = new LineCounter();
  const document = parseDocument(text.replaceAll('\r\n', '\n'), { lineCounter: counter });
  let around: unknown = document.contents;
  let found: FoundPair | null = null;
  let isInBraces = false;
  for (const key of keys) {
    if (!isMap(around)) return null;
    const pair = around.items.find((item) => keyText(item.key) === key);
    if (pair === undefined || !isScalar(pair.key)) return null;
    const value = isNode(pair.value) ? pair.value : null;
    isInBraces ||= around.flow === true;
    found = { pair: { key: pair.key, value }, counter, isInBraces };
    around = pair.value;
  }
  return found;
}

/** Tells whether a value is written on its key's line: a scalar in quotes or without, an alias, braces. */
export function isInline(node: Node | null): boolean {
  if (isAlias(node)) return true;
  if (isCollection(node)) return node.flow === true;
  return isScalar(node) && node.type?.startsWith('BLOCK') !== true;
}

/** Converts a position into an offset in the text itself, whatever its terminators. */
export function offsetIn(text: string, { counter }: FoundPair, offset: number): number {
  const { line, col } = counter.linePos(offset);
  const before = splitLines(text).slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length, 0) + col - 1;
}
