/** A language that we can parse and whose layout has no meaning. */
export type Language = 'typescript' | 'declarations' | 'tsx' | 'javascript' | 'json';

/**
 * The format by which a merged text is resolved and checked. Formats that are not a language are read line by line,
 * because their indentation or order has meaning.
 */
export type Format = Language | 'yaml' | 'keyed-lines' | 'dockerfile' | 'markdown';

// Python, Markdown and make files are missing on purpose: there, indentation is meaning.
const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['ts', 'typescript'],
  ['mts', 'typescript'],
  ['cts', 'typescript'],
  ['tsx', 'tsx'],
  ['js', 'javascript'],
  ['mjs', 'javascript'],
  ['cjs', 'javascript'],
  ['jsx', 'javascript'],
  ['json', 'json'],
  ['jsonc', 'json'],
]);
const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ...LANGUAGES,
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['env', 'keyed-lines'],
  ['toml', 'keyed-lines'],
  ['dockerfile', 'dockerfile'],
  ['md', 'markdown'],
  ['markdown', 'markdown'],
]);

const LINE_FORMATS: ReadonlySet<Format> = new Set<Format>([
  'yaml',
  'keyed-lines',
  'dockerfile',
  'markdown',
]);

/** Returns the format of a file by its name; null for one whose text is never checked. */
export function formatOf(path: string | undefined): Format | null {
  if (path === undefined) return null;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (/\.d\.[cm]?ts$/.test(name)) return 'declarations';
  if (name.startsWith('.env.')) return 'keyed-lines';
  if (name.startsWith('dockerfile.')) return 'dockerfile';
  return FORMATS.get(name.slice(name.lastIndexOf('.') + 1)) ?? null;
}

/** Returns the language of a file by its name; null for all that is merged by lines alone. */
export function languageOf(path: string | undefined): Language | null {
  const format = formatOf(path);
  return format !== null && isLanguage(format) ? format : null;
}

/** Tells whether layout and syntax may take part in the merge, beyond checking its result. */
export function isLanguage(format: Format): format is Language {
  return !LINE_FORMATS.has(format);
}
