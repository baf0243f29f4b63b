import { canonicalValue, dataAt } from './canonical-value.ts';
import { setYaml } from './docker-services/yaml-edit.ts';
import { readYaml } from './docker-services/yaml-text.ts';
import { envData, setEnv } from './env.ts';
import { removeValue, setValue } from './json/json-edit.ts';
import { jsonBytes, readJson, textOf, valueAt } from './json/json-text.ts';
import { sortedPlace } from './npm/npm.ts';
import type { StructuredKind } from './structured-kind.ts';

/**
 * Sets one key of a structured file to a value; every other byte stays, comments included. Null takes
 * the key out, and with it the comment right above it. A key that has the value already stays as written.
 *
 * @param keys the path of keys to the value, one of them for a line of `.env.example`
 * @returns null where the file cannot be read, or nothing else would stay as it is
 */
export function setAt(
  { kind, bytes }: { readonly kind: StructuredKind; readonly bytes: Buffer },
  keys: readonly string[],
  value: unknown,
): Buffer | null {
  switch (kind) {
    case 'npm':
    case 'container':
      return setJson(bytes, keys, value);
    case 'compose':
      return setYaml(bytes, keys, value);
    case 'env':
      return setEnvAt(bytes, keys, value);
    default:
      return null;
  }
}

/** Returns the content of a structured file as plain data; null where it cannot be read. */
export function dataOf(kind: StructuredKind, bytes: Buffer): unknown {
  if (kind === 'env') return envData(bytes);
  if (kind === 'compose') {
    const file = readYaml(bytes);
    return 'map' in file ? file.data : null;
  }
  const file = readJson(bytes);
  return 'root' in file ? JSON.parse(file.text) : null;
}

function setEnvAt(bytes: Buffer, keys: readonly string[], value: unknown): Buffer | null {
  const name = keys.join('.');
  const present = envData(bytes)[name] ?? null;
  return present === value ? bytes : setEnv(bytes, name, value);
}

function setJson(bytes: Buffer, keys: readonly string[], value: unknown): Buffer | null {
  const file = readJson(bytes);
  if (!('root' in file)) return null;
  const present = valueAt(file.root, keys);
  const data = JSON.parse(file.text);
  if (canonicalValue(dataAt(data, keys)) === canonicalValue(value ?? undefined)) return bytes;
  const isOnOneLine = present === null || !textOf(file.text, present).includes('\n');
  const text =
    value === null
      ? removeValue(file.text, keys)
      : setValue(file.text, keys, {
          value: isOnOneLine ? oneLine(value) : JSON.stringify(value, null, 1),
          place: (names) => sortedPlace(names, keys.at(-1) ?? ''),
        });
  return text === file.text ? null : jsonBytes(text, bytes);
}

function oneLine(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/\n */g, ' ');
}
