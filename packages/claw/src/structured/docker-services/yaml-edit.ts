import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  stringify,
} from 'yaml';
import { canonicalValue, dataAt, dataWith } from '../canonical-value.ts';
import {
  bodyOf,
  eolOf,
  joinLines,
  type KeyedChunk,
  type KeyedMap,
  splitLines,
} from '../json/keyed-lines.ts';
import { EMPTY_MAP, mergeKeyed } from '../json/keyed-merge.ts';
import { keyText, readYaml, type YamlText } from './yaml-text.ts';

/**
 * Sets the value at a path of keys; null takes the key out, with the comment right above it. Every
 * other byte stays.
 *
 * @returns null where the text cannot say it without saying something else too (an anchor in the way)
 */
export function setYaml(bytes: Buffer, keys: readonly string[], value: unknown): Buffer | null {
  const file = readYaml(bytes);
  if (!('map' in file) || keys.length === 0) return null;
  if (canonicalValue(dataAt(file.data, keys)) === canonicalValue(value ?? undefined)) return bytes;
  const wanted = canonicalValue(dataWith(file.data, keys, value));
  const ways =
    value === null ? [emptyAround, remove, spliceMember] : [splice, rewrite, insert, spliceMember];
  for (const way of ways) {
    const text = way(file, keys, value);
    if (text === null) continue;
    const after = readYaml(Buffer.from(text));
    if ('map' in after && canonicalValue(after.data) === wanted) return Buffer.from(text);
  }
  return null;
}

type Way = (file: YamlText, keys: readonly string[], value: unknown) => string | null;

// Docker reads YAML 1.1, where `yes` without quotes is not text.
export const YAML_STYLE = {
  lineWidth: 0,
  compat: 'yaml-1.1',
  defaultKeyType: 'PLAIN',
  aliasDuplicateObjects: false,
} as const;

/** Replaces a value that is on its key's line, or in braces. */
const splice: Way = ({ text }, keys, value) => {
  const found = findPair(text, keys);
  const node = found?.pair.value ?? null;
  if (found === null || node?.range == null || !isInline(node)) return null;
  const takesBraces = found.isInBraces || isCollection(node) || isAlias(node);
  if (typeof value === 'object' && !takesBraces) return null;
  const start = offsetIn(text, found, node.range[0]);
  const end = offsetIn(text, found, node.range[1]);
  const written = inlineText(value, node, text.slice(start, end));
  const before = /[\s[{]$/.test(text.slice(0, start)) ? '' : ' ';
  const after = start < end || /^([\s,\]}]|$)/.test(text.slice(end)) ? '' : ' ';
  return text.slice(0, start) + before + written + after + text.slice(end);
};

type Quotes = 'PLAIN' | 'QUOTE_DOUBLE' | 'QUOTE_SINGLE';

/** Writes a value as one line that is valid in braces as well, in the style of the present one. */
function inlineText(value: unknown, present: Node | null = null, written = ''): string {
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
function bodyWith(
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

/** A key and its value in a YAML text; positions count terminators as one character. */
export type FoundPair = {
  readonly pair: { readonly key: Node; readonly value: Node | null };
  readonly counter: LineCounter;
  readonly isInBraces: boolean;
};

/** Finds a key that the text itself writes, not one that comes from an alias. */
function findPair(text: string, keys: readonly string[]): FoundPair | null {
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
function isInline(node: Node | null): boolean {
  if (isAlias(node)) return true;
  if (isCollection(node)) return node.flow === true;
  return isScalar(node) && node.type?.startsWith('BLOCK') !== true;
}

/** Converts a position into an offset in the text itself, whatever its terminators. */
function offsetIn(text: string, { counter }: FoundPair, offset: number): number {
  const { line, col } = counter.linePos(offset);
  const before = splitLines(text).slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length, 0) + col - 1;
}

/** Writes a value on the lines of the present one. */
const rewrite: Way = ({ text, map }, keys, value) => {
  const found = findPair(text, keys);
  const eol = eolOf(text);
  const lines = withChunk(map, keys, (chunk) => {
    const body = found && bodyWith(chunk, found, { value, eol });
    return body && [...chunk.lead, ...body];
  });
  return lines && ended(joinLines(lines, eol), text);
};

// Adding is merging: the new key comes from a text of its own that has nothing in common with the file.
const insert: Way = ({ text, map }, keys, value) => {
  const content = stringify(dataWith({}, keys, value), YAML_STYLE);
  const theirs = readYaml(Buffer.from(content));
  if (!('map' in theirs)) return null;
  const eol = eolOf(text);
  const { lines, clashes } = mergeKeyed({ base: EMPTY_MAP, ours: map, theirs: theirs.map }, eol);
  return clashes.length > 0 ? null : joinLines(lines, eol);
};

const remove: Way = ({ text, map }, keys) => {
  const lines = withChunk(map, keys, ({ lead }) => {
    const end = lead.findLastIndex((line) => line.trim() === '');
    return lead.slice(0, end + 1);
  });
  return lines && joinLines(lines, eolOf(text));
};

/** Adds a key to others in braces, or removes one of them. */
const spliceMember: Way = ({ text }, keys, value) => {
  const around = findPair(text, keys.slice(0, -1));
  const map = around?.pair.value;
  if (around === null || !isMap(map) || map.flow !== true) return null;
  const key = keys.at(-1) ?? '';
  const members = map.items.map((pair) => ({ key: keyText(pair.key), range: rangeOf(pair) }));
  const at = members.findIndex((member) => member.key === key);
  const offset = (place: number | undefined) =>
    place === undefined ? null : offsetIn(text, around, place);
  if (value === null) {
    const [before, after] = [members[at - 1], members[at + 1]];
    const start = offset(
      after === undefined && before ? before.range?.[1] : members[at]?.range?.[0],
    );
    const end = offset(after?.range?.[0] ?? members[at]?.range?.[1]);
    return start === null || end === null ? null : text.slice(0, start) + text.slice(end);
  }
  const end = offset(members.at(-1)?.range?.[1]);
  if (end === null || at !== -1) return null;
  return `${text.slice(0, end)}, ${inlineText(key)}: ${inlineText(value)}${text.slice(end)}`;
};

/** Writes an empty map when the last of its keys goes. */
const emptyAround: Way = (file, keys, value) => {
  const around = keys.slice(0, -1);
  const next = dataWith(dataAt(file.data, around), keys.slice(-1), value);
  return around.length > 0 && canonicalValue(next) === '{}' ? rewrite(file, around, {}) : null;
};

function rangeOf({ key, value }: Pair): readonly [number, number] | null {
  if (!isScalar(key) || key.range == null) return null;
  const end = isNode(value) && value.range ? value.range[1] : key.range[1];
  return [key.range[0], end];
}

/** Returns the lines of a map in which one chunk, comments above it included, has other lines. */
function withChunk(
  map: KeyedMap,
  [key, ...inner]: readonly string[],
  edit: (chunk: KeyedChunk) => readonly string[] | null,
): readonly string[] | null {
  const lines: string[] = [];
  let isFound = false;
  for (const chunk of map.chunks) {
    if (chunk.key !== key) {
      lines.push(...chunk.lead, ...bodyOf(chunk));
      continue;
    }
    const inside = chunk.map && inner.length > 0 ? withChunk(chunk.map, inner, edit) : null;
    const edited =
      inner.length === 0 ? edit(chunk) : inside && [...chunk.lead, ...chunk.head, ...inside];
    if (edited === null) return null;
    lines.push(...edited);
    isFound = true;
  }
  return isFound ? [...lines, ...map.tail] : null;
}

/** Ends a text without a terminator if the original has none. */
function ended(text: string, original: string): string {
  return original.endsWith('\n') ? text : text.replace(/\r?\n$/, '');
}
