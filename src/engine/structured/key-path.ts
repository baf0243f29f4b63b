import { isPlainMap } from './values.ts';

// Names below these may hold dots themselves: `dependencies.socket.io`.
const NAMED = /^(\w*[dD]ependencies|scripts|npm|bin|exports|imports|overrides|resolutions)$/;

/** The keys that a dotted path means: as far as they are there, by what is there. */
export function splitKey(data: unknown, key: string, section = ''): readonly string[] {
  if (key === '') return [];
  const members = isPlainMap(data) ? Object.entries(data) : [];
  const names = members.flatMap(([name, value]) =>
    key === name || (isPlainMap(value) && key.startsWith(`${name}.`)) ? [name] : [],
  );
  const [name] = names.sort((one, other) => other.length - one.length);
  if (name === undefined) return newKeys(section, key);
  const inner = isPlainMap(data) ? data[name] : null;
  return [name, ...splitKey(inner, key.slice(name.length + 1), name)];
}

function newKeys(section: string, key: string): readonly string[] {
  if (NAMED.test(section)) return [key];
  const parts = key.split('.');
  const [first = '', ...rest] = parts;
  if (section === '' && rest.length > 0) return [first, ...newKeys(first, rest.join('.'))];
  // A service's own keys hold no dots, its name may.
  return section === 'services' && rest.length > 0
    ? [parts.slice(0, -1).join('.'), ...parts.slice(-1)]
    : parts;
}
