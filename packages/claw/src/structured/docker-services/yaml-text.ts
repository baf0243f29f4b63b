import { isUtf8 } from 'node:buffer';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import type { Fault } from '../json/json-text.ts';
import { type KeyedChunk, type KeyedMap, splitLines } from '../json/keyed-lines.ts';

/** A YAML text as keyed lines and as plain data (aliases followed). */
export type YamlText = { readonly text: string; readonly map: KeyedMap; readonly data: unknown };

type Source = { readonly lines: readonly string[]; readonly counter: LineCounter };

/** Reads a YAML text whose root is a map in lines, or nothing at all. */
export function readYaml(bytes: Buffer): YamlText | Fault {
  if (!isUtf8(bytes)) return { line: 1, reason: 'it is not UTF-8 text' };
  const text = bytes.toString('utf8');
  const counter = new LineCounter();
  // Columns and lines are all that is taken from here, so terminators may be made alike.
  const document = parseDocument(text.replaceAll('\r\n', '\n'), {
    lineCounter: counter,
    logLevel: 'error',
    // Keys that a service merges by `<<` are its own as well: its ports are taken.
    merge: true,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const reason = error.message.split('\n')[0]?.replace(/ at line.*$/, '') ?? 'it is not YAML';
    return { line: counter.linePos(error.pos[0]).line, reason };
  }
  const source = { lines: splitLines(text), counter };
  const root = document.contents;
  const isNothing = root === null || (isScalar(root) && root.value === null);
  const map = isNothing
    ? { chunks: [], tail: source.lines, indent: '' }
    : readMap(root, source, { start: 0, end: source.lines.length });
  if (map === null) return { line: 1, reason: 'it is not written as keys, one to a line' };
  try {
    return { text, map, data: document.toJS() ?? {} };
  } catch {
    // The only way to fail here is an alias without its anchor, or one that grows without end.
    return { line: 1, reason: 'it has an alias that leads nowhere' };
  }
}

/** Returns a key as plain data has it. */
export function keyText(key: unknown): string {
  if (!isScalar(key)) return '';
  return typeof key.value === 'symbol' ? '<<' : String(key.value);
}

/** Returns a spelling that two nodes share exactly if they say the same; an alias says its name. */
function canonicalYaml(node: unknown): string {
  if (isAlias(node)) return `*${node.source}`;
  if (isScalar(node)) return JSON.stringify(node.value) ?? keyText(node);
  if (isSeq(node)) return `[${node.items.map(canonicalYaml).join(',')}]`;
  if (!isMap(node)) return 'null';
  const members = node.items.map(
    ({ key, value }) => `${canonicalYaml(key)}:${canonicalYaml(value)}`,
  );
  return `{${members.sort().join(',')}}`;
}

/** Reads a map; null where it is not written one key to a line, or has a key that is not a plain text. */
function readMap(
  node: Node | null,
  source: Source,
  range: { readonly start: number; readonly end: number },
): KeyedMap | null {
  if (!isMap(node) || node.flow === true || node.items.length === 0) return null;
  const starts = node.items.map((pair) => lineOf(pair, source));
  const [first] = starts;
  if (first === undefined || first === null || first < range.start) return null;
  const indent = /^[ ]*/.exec(source.lines[first] ?? '')?.[0] ?? '';
  const chunks: KeyedChunk[] = [];
  let leadStart = range.start;
  for (const [at, pair] of node.items.entries()) {
    const start = starts[at];
    const next = at + 1 < starts.length ? starts[at + 1] : range.end;
    if (start === undefined || start === null || next === undefined || next === null) return null;
    if (next <= start) return null;
    const end = contentEnd(source.lines, { start, end: next, indent });
    chunks.push(readChunk(pair, source, { leadStart, start, end }));
    leadStart = end;
  }
  return { chunks, tail: source.lines.slice(leadStart, range.end), indent };
}

function readChunk(
  { key, value }: Pair,
  source: Source,
  {
    leadStart,
    start,
    end,
  }: { readonly leadStart: number; readonly start: number; readonly end: number },
): KeyedChunk {
  const inner = isMap(value) ? readMap(value, source, { start: start + 1, end }) : null;
  // Anything but comments between a key and its map, such as a tag on its own line, binds them.
  const isLoose = inner?.chunks[0]?.lead.every(isTrivia) === true;
  const map = isLoose ? inner : null;
  return {
    key: keyText(key),
    lead: source.lines.slice(leadStart, start),
    head: source.lines.slice(start, map === null ? end : start + 1),
    map,
    value: canonicalYaml(value),
    isEmpty:
      value === null ||
      (isScalar(value) && value.value === null) ||
      (isMap(value) && value.items.length === 0),
  };
}

/** Returns the line of a pair that begins its line, or null. */
function lineOf({ key }: Pair, { lines, counter }: Source): number | null {
  if (!isScalar(key) || key.range == null) return null;
  const { line, col } = counter.linePos(key.range[0]);
  const before = lines[line - 1]?.slice(0, col - 1) ?? '';
  return before.trim() === '' ? line - 1 : null;
}

/** Finds the line where blank lines and comments begin that belong to the next key. */
function contentEnd(
  lines: readonly string[],
  { start, end, indent }: { readonly start: number; readonly end: number; readonly indent: string },
): number {
  let last = end;
  while (last > start + 1) {
    const line = lines[last - 1] ?? '';
    const depth = line.length - line.trimStart().length;
    const isOurs = line.trim() !== '' && (!isTrivia(line) || depth > indent.length);
    if (isOurs) break;
    last -= 1;
  }
  return last;
}

function isTrivia(line: string): boolean {
  return /^\s*(#.*)?\r?\n?$/.test(line);
}
