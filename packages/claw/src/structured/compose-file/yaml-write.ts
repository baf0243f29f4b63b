import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  Scalar,
  stringify,
} from 'yaml';
import { bodyOf, type KeyedChunk } from '../json/keyed-lines.ts';
import { canonicalValue } from '../values.ts';
import type { FoundPair } from './yaml-find.ts';

type Quotes = 'PLAIN' | 'QUOTE_DOUBLE' | 'QUOTE_SINGLE';

// Docker reads YAML 1.1, where `yes` without quotes is no text.
export const YAML_STYLE = {
  lineWidth: 0,
  compat: 'yaml-1.1',
  defaultKeyType: 'PLAIN',
  aliasDuplicateObjects: false,
} as const;

/** Writes a value as one line that is valid in braces as well, in the style of the present one. */
export function inlineText(value: unknown, present: Node | null = null, written = ''): string {
  const options = {
    ...YAML_STYLE,
    collectionStyle: 'flow',
    defaultStringType: quotesOf(present),
    flowCollectionPadding: !/^[[{]\S/.test(written),
  } as const;
  const listed = stringify([value], options).trim();
  return listed.slice(1, -1).trim();
}

/** Returns the lines of a key with another value, in the place and the manner of the present one. */
export function bodyWith(
  chunk: KeyedChunk,
  { pair, counter }: FoundPair,
  { value, eol }: { readonly value: unknown; readonly eol: string },
): readonly string[] | null {
  const body = bodyOf(chunk);
  const [first = ''] = body;
  const start = pair.value?.range?.[0];
  if (start === undefined || pair.key.range == null) return null;
  const [keyAt, valueAt] = [counter.linePos(pair.key.range[0]), counter.linePos(start)];
  const isBelow = valueAt.line > keyAt.line;
  const isNothing = start === pair.value?.range?.[1];
  const indent = ' '.repeat(keyAt.col - 1);
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isEmpty) {
    const colon = first.indexOf(':', counter.linePos(pair.key.range[1]).col - 1) + 1;
    const [before, after] = isBelow
      ? [first.slice(0, colon), first.slice(colon)]
      : [first.slice(0, valueAt.col - 1).trimEnd(), eol];
    return [`${before} ${inlineText(value)}${after}`];
  }
  const head = isBelow
    ? body.slice(0, valueAt.line - keyAt.line)
    : [isNothing ? first : `${first.slice(0, valueAt.col - 1).trimEnd()}${eol}`];
  // A list may be as deep as its key, a map may not.
  const isDeep = isBelow && (Array.isArray(value) || valueAt.col > keyAt.col);
  const depth = isDeep ? ' '.repeat(valueAt.col - 1) : `${indent}  `;
  const below = body.slice(head.length);
  const kept = isBelow && isSeq(pair.value) ? itemLines(pair.value, below, counter) : [];
  const written = Array.isArray(value)
    ? value.flatMap((item: unknown) => takeKept(kept, item) ?? indented([item], depth, eol))
    : indented(value, depth, eol);
  return [...head, ...written];
}

type ItemLines = { readonly value: string; readonly lines: readonly string[] };

/** Returns the lines of each item of a list, with the comments after and below it. */
function itemLines(
  seq: { readonly items: readonly unknown[]; toJSON(): unknown },
  lines: readonly string[],
  counter: LineCounter,
): ItemLines[] {
  const values = seq.toJSON();
  const starts = seq.items.map((item) => {
    const isNode = isScalar(item) || isMap(item) || isSeq(item) || isAlias(item);
    return isNode && item.range ? counter.linePos(item.range[0]).line : null;
  });
  const [origin] = starts;
  if (!Array.isArray(values) || origin == null) return [];
  return starts.flatMap((start, at) => {
    const next = starts[at + 1];
    if (start === null || next === null) return [];
    const end = next === undefined ? lines.length : next - origin;
    return [{ value: canonicalValue(values[at]), lines: lines.slice(start - origin, end) }];
  });
}

function takeKept(kept: ItemLines[], item: unknown): readonly string[] | null {
  const at = kept.findIndex(({ value }) => value === canonicalValue(item));
  return at === -1 ? null : (kept.splice(at, 1)[0]?.lines ?? null);
}

function indented(value: unknown, indent: string, eol: string): readonly string[] {
  const lines = stringify(value, YAML_STYLE).trimEnd().split('\n');
  return lines.map((line) => (line === '' ? eol : indent + line + eol));
}

/** Returns the quotes in which a value, or the first text in it, is written. */
function quotesOf(node: unknown): Quotes {
  if (isSeq(node)) return node.items.length === 0 ? 'PLAIN' : quotesOf(node.items[0]);
  if (!isScalar(node)) return 'PLAIN';
  if (node.type === Scalar.QUOTE_DOUBLE) return 'QUOTE_DOUBLE';
  return node.type === Scalar.QUOTE_SINGLE ? 'QUOTE_SINGLE' : 'PLAIN';
}
