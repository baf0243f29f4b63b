import { posix } from 'node:path';

const EXTENSIONS = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'json', 'vue', 'svelte'];
const CODE = new RegExp(`\\.(${EXTENSIONS.join('|')})$`);
/** In a package.json `main` need not begin with a dot. */
const QUOTED_BARE = /(")([^"\n]+)\1/g;
const QUOTED = /(['"`])(\.{1,2}(?:\/[^'"`\n]*)?)\1/g;

/** Erased before a module runs, so that it loads nothing. */
const TYPES =
  /\b(?:import|export)\s+type\s+(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|(?!from\b)\w+)\s+from\s*(['"])[^'"\n]*\1/g;

/** Tells whether a file can name others in a way that `referencesOf` understands. */
export function isCode(path: string): boolean {
  return CODE.test(path);
}

/** Returns the text without imports of types alone. */
export function withoutTypes(text: string): string {
  return text.replace(TYPES, '');
}

/**
 * Lists the files that a file of JavaScript or TypeScript names by a relative path. Counts imports of any
 * form except those of types, and any other string, since `fork('./worker.js')` depends on that file as well.
 *
 * A comment that names a file counts too, which only makes the list longer. A path that may mean one of
 * several files counts for all of them, because that depends on the importer.
 *
 * @param has whether there is such a file
 */
export function referencesOf(
  path: string,
  text: string,
  has: (path: string) => boolean,
): readonly string[] {
  const found = new Set<string>();
  const quoted = posix.basename(path) === 'package.json' ? QUOTED_BARE : QUOTED;
  for (const [, , named = ''] of withoutTypes(text).matchAll(quoted)) {
    const target = posix.join(posix.dirname(path), named.replace(/[?#].*$/, ''));
    for (const file of candidatesOf(target)) if (has(file)) found.add(file);
  }
  return [...found];
}

/** Returns the files that Node and other tools may mean by a path. */
export function candidatesOf(named: string): readonly string[] {
  const target = posix.normalize(named).replace(/\/$/, '');
  const typed = /\.[cm]?jsx?$/.test(target) ? [target.replace(/js(x?)$/, 'ts$1')] : [];
  const extended = EXTENSIONS.map((extension) => `${target}.${extension}`);
  return [target, ...typed, ...extended, ...inFolder(target)];
}

function inFolder(target: string): readonly string[] {
  const names = ['package.json', ...EXTENSIONS.map((one) => `index.${one}`)];
  const folder = target === '.' ? '' : `${target}/`;
  return names.map((name) => `${folder}${name}`);
}

const IMPORTED = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"])([^'"\n]+)\1/g;

/** Lists the modules that a file imports by a bare name: packages, Node's own, aliases. */
export function packagesOf(text: string): readonly string[] {
  const named = [...withoutTypes(text).matchAll(IMPORTED)].map(([, , name = '']) => name);
  return [...new Set(named.filter((name) => !/^\.{1,2}(\/|$)/.test(name)))];
}

const OWN_PLACE = /\bimport\.meta\.(?:dirname|url|filename)\b|\b__(?:dirname|filename)\b/;
/** Its folder as a value, and not as the beginning of a path. */
const OWN_FOLDER = /(?:\bimport\.meta\.dirname|\b__dirname)\b(?!\}\/)(?!\s*[,+]\s*['"`])/;
const BELOW_OWN = /(['"`])(?:\$\{(?:import\.meta\.dirname|__dirname)\}\/)?([\w@./-]+)\1/g;

/**
 * Lists the paths that a module may look into because it uses its own location: `join(import.meta.dirname,
 * 'commands')` is a folder that it may read or import from.
 */
export function placesOf(path: string, text: string): readonly string[] {
  if (!OWN_PLACE.test(text)) return [];
  const own = posix.dirname(path);
  const below = [...text.matchAll(BELOW_OWN)].map(([, , named = '']) => posix.join(own, named));
  return [...new Set([...(OWN_FOLDER.test(text) ? [own] : []), ...below])];
}
