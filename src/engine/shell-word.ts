/**
 * Returns a name as one word of a shell, which takes nothing in it for a command. Names of files, refs and remotes come
 * from strangers, and owners copy printed commands into their shell.
 */
export function shellWord(name: string): string {
  return /^[\w./@:+,-][\w./@:+,=#-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** Returns names as the words of a printed command, with a space between them. */
export function shellWords(names: readonly string[]): string {
  return names.map((name) => shellWord(name)).join(' ');
}
