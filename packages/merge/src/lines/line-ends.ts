import { mergeValue } from '../merge-value.ts';
import type { Versions } from '../tree.ts';
import type { Hunk } from './hunk.ts';
import { contentOf, dominantTerminator, endLine, type Terminator, terminatorOf } from './lines.ts';

/** Line ends of a merged text, decided for the whole file before any line is written. */
export type LineEnds = {
  /** The end that most lines of each side have. */
  readonly dominant: Versions<Terminator>;
  /** The end that most lines of the merged text get. */
  readonly target: '\n' | '\r\n';
  /** True if the last line ends with a newline; null where a side without lines decides that. */
  readonly isFinalEnded: boolean | null;
};

/** Merges the habits of three texts: which line end they use, and whether the last line has one. */
export function mergeLineEnds(versions: Versions<readonly string[]>): LineEnds {
  const dominant = mapVersions(versions, dominantTerminator);
  const { base, ours, theirs } = dominant;
  return {
    dominant,
    target: mergeValue(dominant) || ours || theirs || base || '\n',
    isFinalEnded: mergeValue(mapVersions(versions, isFinalEnded)),
  };
}

/**
 * Returns a line of one side as the merged text writes it: with the merged text's usual end if it has the
 * side's usual one, else as it is. So the odd line of a file with mixed ends stays odd.
 */
export function toTarget(line: string, side: keyof Versions<unknown>, ends: LineEnds): string {
  const from = ends.dominant[side];
  if (from === '' || from === ends.target || terminatorOf(line) !== from) return line;
  return endLine(contentOf(line), ends.target);
}

/**
 * Ends every line that is not the last of the text, and the last one as the merge decided.
 *
 * The sides of a conflict at the end of the text keep their own last ends: until a side is chosen there is no
 * merged last line.
 */
export function closeLines(hunks: readonly Hunk[], ends: LineEnds): readonly Hunk[] {
  return hunks.map((hunk, index) => {
    const isLast = index === hunks.length - 1;
    if (hunk.kind === 'resolved') {
      return { kind: 'resolved', lines: closeResolved(hunk.lines, isLast, ends) };
    }
    if (isLast) return hunk;
    return { kind: 'conflict', ...mapVersions(hunk, (lines) => closeAll(lines, ends)) };
  });
}

function closeResolved(lines: readonly string[], isLast: boolean, ends: LineEnds) {
  const closed = closeAll(lines, ends);
  const final = lines.at(-1);
  if (!isLast || final === undefined) return closed;
  return [...closed.slice(0, -1), closeFinal(final, ends)];
}

function closeAll(lines: readonly string[], { target }: LineEnds): readonly string[] {
  return lines.map((line) => (terminatorOf(line) === '' ? endLine(line, target) : line));
}

function closeFinal(line: string, { isFinalEnded, target }: LineEnds): string {
  if (isFinalEnded === null || isFinalEnded === line.endsWith('\n')) return line;
  if (isFinalEnded) return endLine(line, target);
  // A blank line is nothing but its end.
  return contentOf(line) || line;
}

function isFinalEnded(lines: readonly string[]): boolean | null {
  return lines.at(-1)?.endsWith('\n') ?? null;
}

/** The three versions' names, for what needs the name beside the version. */
export const NAMES: Versions<keyof Versions<unknown>> = {
  base: 'base',
  ours: 'ours',
  theirs: 'theirs',
};

/** Applies a function to all three versions. */
export function mapVersions<T, R>(
  { base, ours, theirs }: Versions<T>,
  map: (version: T) => R,
): Versions<R> {
  return { base: map(base), ours: map(ours), theirs: map(theirs) };
}
