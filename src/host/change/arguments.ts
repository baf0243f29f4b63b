/** What stands behind a command: words, and the paths named with `--allow`. */
export type Arguments = { readonly words: readonly string[]; readonly allow: readonly string[] };

/** Reads `telegram --allow .github/workflows/ci.yml`; null for an option that there is not. */
export function readArguments(argument: string): Arguments | null {
  const words: string[] = [];
  const allow: string[] = [];
  const given = argument.split(/\s+/).filter((word) => word !== '');
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? '';
    if (word !== '--allow' && word.startsWith('-')) return null;
    if (word !== '--allow') {
      words.push(word);
      continue;
    }
    at += 1;
    const path = given[at];
    if (path === undefined) return null;
    allow.push(path);
  }
  return { words, allow };
}
