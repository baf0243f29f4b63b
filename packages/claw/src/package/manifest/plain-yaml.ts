import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { ClawError } from '../../errors.ts';

/** The limits of a plain YAML file: bytes of the file, and collections inside one another. */
export type YamlLimits = { readonly sizeBytes: number; readonly depth: number };

type Place = { readonly file: string; readonly lines: LineCounter; readonly depth: number };

// Keys that would reach an object's prototype once the value is a JavaScript object.
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads self-contained YAML: no aliases, anchors, tags, merge keys, directives, duplicate or prototype keys.
 * The result holds only strings, numbers, booleans, null, lists and plain objects.
 *
 * @param file the name to show in errors; the place is appended as `:line:column`
 * @throws ClawError YAML_INVALID, or LIMIT_EXCEEDED for size and depth
 */
export function parsePlainYaml(source: Buffer | string, file: string, limits: YamlLimits): unknown {
  const text = readText(source, file, limits);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    logLevel: 'error',
  });
  const place = { file, lines, depth: limits.depth };
  const [error] = document.errors;
  if (error?.code === 'RESOURCE_EXHAUSTION') throw tooDeep(place);
  if (error !== undefined) {
    // The message begins with the place already.
    const reason = error.message.replace(/( at line \d+, column \d+)?:?\n.*$/s, '');
    throw invalid(place, error.pos[0], reason);
  }
  checkNode(document.contents, 1, place);
  return document.toJS();
}

function readText(source: Buffer | string, file: string, limits: YamlLimits): string {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  if (bytes.length > limits.sizeBytes) {
    throw new ClawError(
      'LIMIT_EXCEEDED',
      `${file} has ${bytes.length} bytes; at most ${limits.sizeBytes} are read. Make it smaller.`,
      { path: file, data: { sizeBytes: bytes.length, limitBytes: limits.sizeBytes } },
    );
  }
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) {
    throw new ClawError('YAML_INVALID', `${file} is not UTF-8 text.`, { path: file });
  }
  // `%YAML 1.1` would bring back merge keys and `yes` as a boolean.
  const directive = /^%/m.exec(text);
  if (directive !== null) {
    const line = text.slice(0, directive.index).split('\n').length;
    throw new ClawError('YAML_INVALID', `${file}:${line}:1: directives are not allowed.`, {
      path: `${file}:${line}:1`,
    });
  }
  return text;
}

function checkNode(node: unknown, depth: number, place: Place): void {
  if (!isNode(node)) return;
  const start = node.range?.[0] ?? 0;
  if (isAlias(node)) throw invalid(place, start, 'aliases are not allowed; repeat the value');
  if (node.anchor !== undefined) throw invalid(place, start, 'anchors are not allowed');
  if (node.tag !== undefined) throw invalid(place, start, 'tags are not allowed');
  if (!isMap(node) && !isSeq(node)) return;
  if (depth > place.depth) throw tooDeep(place);
  if (isSeq(node)) {
    for (const item of node.items) checkNode(item, depth + 1, place);
    return;
  }
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    checkKey(key, seen, start, place);
    checkNode(value, depth + 1, place);
  }
}

function checkKey(key: unknown, seen: Set<string>, mapStart: number, place: Place): void {
  const start = isNode(key) ? (key.range?.[0] ?? mapStart) : mapStart;
  checkNode(key, 1, place);
  if (!isScalar(key) || key.value === null || typeof key.value === 'object') {
    throw invalid(place, start, 'a key must be plain text');
  }
  // `1` and `"1"` are two keys in YAML and one in JavaScript.
  const name = String(key.value);
  if (name === '<<') throw invalid(place, start, 'merge keys are not allowed; repeat the values');
  if (PROTOTYPE_KEYS.has(name)) throw invalid(place, start, `the key ${name} is not allowed`);
  if (seen.has(name)) throw invalid(place, start, `the key ${name} is here twice`);
  seen.add(name);
}

function invalid(place: Place, offset: number, reason: string): ClawError {
  const { line, col } = place.lines.linePos(offset);
  const path = `${place.file}:${line}:${col}`;
  return new ClawError('YAML_INVALID', `${path}: ${reason}.`, { path, data: { line, col } });
}

function tooDeep(place: Place): ClawError {
  return new ClawError(
    'LIMIT_EXCEEDED',
    `${place.file} is nested deeper than ${place.depth} levels. Flatten it.`,
    { path: place.file, data: { limitDepth: place.depth } },
  );
}
