/** A language whose layout is no meaning and which we can parse. */
export type Language = 'typescript' | 'declarations' | 'tsx' | 'javascript' | 'json';

// Python, YAML, Markdown and make files are missing on purpose: there, indentation is meaning.
const BY_EXTENSION: ReadonlyMap<string, Language> = new Map([
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

/** The language of a file by its name; null for all that is merged by lines alone. */
export function languageOf(path: string | undefined): Language | null {
  if (path === undefined) return null;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (/\.d\.[cm]?ts$/.test(name)) return 'declarations';
  return BY_EXTENSION.get(name.slice(name.lastIndexOf('.') + 1)) ?? null;
}
