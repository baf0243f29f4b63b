/** Returns a value as a sentence can show it: on one line, and not longer than 60 characters. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/**
 * Returns a spelling that two plain values share exactly if they are equal, whatever the order of their keys.
 */
export function canonicalValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`;
  if (!isPlainMap(value)) return JSON.stringify(value) ?? 'nothing';
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${canonicalValue(member)}`,
  );
  return `{${members.sort().join(',')}}`;
}

export function isPlainMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of keys in plain data; undefined where there is none. */
export function dataAt(data: unknown, keys: readonly string[]): unknown {
  let value = data;
  for (const key of keys) {
    if (!isPlainMap(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Returns the same data with another value at a path of keys; null takes the last key out. */
export function dataWith(data: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...inner] = keys;
  if (key === undefined) return value;
  if (value === null && dataAt(data, keys) === undefined) return data;
  const map = isPlainMap(data) ? data : {};
  if (inner.length > 0 || value !== null)
    return { ...map, [key]: dataWith(map[key], inner, value) };
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}
