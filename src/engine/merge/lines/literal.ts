/** What begins and ends a text over several lines, in which all space counts. */
const QUOTES = /"""|'''|`/g;
const HEREDOC = /<<[-~]?\s*(["']?)([A-Za-z_]\w*)\1/;

/** Tells whether a line may be within a text over several lines: a string, a fenced block or a heredoc. */
export function isInLiteral(lines: readonly string[], index: number): boolean {
  let quotes = 0;
  let heredoc: string | null = null;
  for (const line of lines.slice(0, index)) {
    if (heredoc !== null) {
      if (line.trim() === heredoc) heredoc = null;
      continue;
    }
    quotes += line.match(QUOTES)?.length ?? 0;
    heredoc = HEREDOC.exec(line)?.[2] ?? null;
  }
  return heredoc !== null || quotes % 2 === 1;
}
