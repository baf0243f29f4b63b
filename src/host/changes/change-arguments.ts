/** The text after a command's name: words, options of its own, and the paths named with `--allow`. */
export type Arguments = {
  readonly words: readonly string[];
  readonly options: readonly string[];
  readonly allow: readonly string[];
};

/** Options that a command has beside `--allow`, and whether a word belongs to them. */
type KnownOptions = Readonly<Record<string, 'alone' | 'with a word'>>;

/**
 * Reads `telegram allow .github/workflows/ci.yml`; null for an option that there is not. Options are said
 * as words, such as `keep`; with dashes, as in a shell, they are the same.
 */
export function readArguments(argument: string, known: KnownOptions = {}): Arguments | null {
  const words: string[] = [];
  const options: string[] = [];
  const allow: string[] = [];
  const given = argument.split(/\s+/).filter((word) => word !== '');
  for (let at = 0; at < given.length; at += 1) {
    const typed = given[at] ?? '';
    const word = typed.startsWith('-') ? typed : `--${typed}`;
    const kind = word === '--allow' ? 'with a word' : known[word];
    if (kind === undefined && !typed.startsWith('-')) {
      words.push(typed);
      continue;
    }
    if (kind === undefined) return null;
    if (kind === 'alone') {
      options.push(word);
      continue;
    }
    at += 1;
    const text = given[at];
    if (text === undefined) return null;
    if (word === '--allow') allow.push(text);
    else options.push(word, text);
  }
  return { words, options, allow };
}
