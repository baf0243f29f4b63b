/** A program and its arguments. */
export type Command = { readonly file: string; readonly args: readonly string[] };

const FILES = '{files}';

/**
 * Splits a command line of the configuration, so that it runs without a shell; a line with shell operators is passed
 * to `sh`.
 *
 * @param extra arguments handed over unchanged, such as the list of test files: in place of `{files}`, if it
 *   is a word of the line, else at its end
 */
export function parseCommand(line: string, extra: readonly string[] = []): Command {
  const words = needsShell(line) ? null : splitWords(line);
  const [file, ...args] = words ?? [];
  const isPlaced = line.includes(FILES);
  if (file !== undefined) {
    if (!isPlaced) return { file, args: [...args, ...extra] };
    return { file, args: args.flatMap((word) => (word === FILES ? extra : [word])) };
  }
  const behind = extra.length === 0 ? line : `${line} "$@"`;
  const script = isPlaced ? line.replaceAll(FILES, '"$@"') : behind;
  return { file: 'sh', args: ['-c', script, 'sh', ...extra] };
}

/** Returns a command line as the owner sees it: without the variables set in front of the program. */
export function shownCommand(line: string): string {
  return line.replace(/^\s*(?:\w+=(?:[^\s'"]|'[^']*'|"[^"]*")*\s+)+(?=\S)/, '');
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
