import { isAlias, isCollection, isMap, isNode, isScalar, type Pair, stringify } from 'yaml';
import { bodyOf, eolOf, joinLines, type KeyedChunk, type KeyedMap } from '../json/keyed-lines.ts';
import { EMPTY_MAP, mergeKeyed } from '../json/keyed-merge.ts';
import { canonicalValue, dataAt, dataWith } from '../values.ts';
import { findPair, isInline, offsetIn } from './yaml-find.ts';
import { keyText, readYaml, type YamlText } from './yaml-text.ts';
import { bodyWith, inlineText, YAML_STYLE } from './yaml-write.ts';

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
