/** A program and its arguments. */
export type Command = { readonly file: string; readonly args: readonly string[] };

/**
 * Takes a command line of the configuration apart, so that it runs without a shell; one that uses a
 * shell's operators is handed to `sh`.
 *
 * @param extra arguments appended as they are, such as the list of test files
 */
export function parseCommand(line: string, extra: readonly string[] = []): Command {
  const words = needsShell(line) ? null : splitWords(line);
  const [file, ...args] = words ?? [];
  if (file !== undefined) return { file, args: [...args, ...extra] };
  return { file: 'sh', args: ['-c', extra.length === 0 ? line : `${line} "$@"`, 'sh', ...extra] };
}

function needsShell(line: string): boolean {
  const unquoted = line.replace(/'[^']*'/g, '');
  return /[|&;<>()$`*?\\\n]/.test(unquoted) || /^\s*\w+=/.test(line);
}

/** @returns null where a quote is left open: the shell has the better message */
function splitWords(line: string): readonly string[] | null {
  const word = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g;
  if (/\S/.test(line.replace(word, ''))) return null;
  const unquote = (text: string) =>
    text.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double);
  return (line.match(word) ?? []).map(unquote);
}
