/**
 * One key of a file that is written in lines. Lines are raw: with their indentation and terminators,
 * so that what is not touched stays as it is.
 */
export type KeyedChunk = {
  readonly key: string;
  /** The comments and blank lines above it. */
  readonly lead: readonly string[];
  /** The lines of the key itself; of its value too, unless that is a map in lines. */
  readonly head: readonly string[];
  readonly map: KeyedMap | null;
  /** Equal exactly if the values are, whatever their layout. */
  readonly value: string;
  /** True for no value at all or an empty map: any side may fill it. */
  readonly isEmpty: boolean;
};

/** A map in lines: every line that it covers is in one of its chunks or in its tail. */
export type KeyedMap = {
  readonly chunks: readonly KeyedChunk[];
  readonly tail: readonly string[];
  /** The white space in front of its keys. */
  readonly indent: string;
};

/** The indentation before and after a move, and the line ends of the new place. */
export type Transplant = { readonly from: string; readonly to: string; readonly eol: string };

/** Returns the lines of a chunk without the comments above it. */
export function bodyOf({ head, map }: KeyedChunk): readonly string[] {
  return map === null ? head : [...head, ...linesOf(map)];
}

/** Returns all lines of a map, as they were. */
function linesOf(map: KeyedMap): readonly string[] {
  return [...map.chunks.flatMap((chunk) => [...chunk.lead, ...bodyOf(chunk)]), ...map.tail];
}

/** Indents lines for another depth of another file. */
export function transplant(
  lines: readonly string[],
  { from, to, eol }: Transplant,
): readonly string[] {
  return lines.map((line) => {
    const content = line.replace(/\r?\n$/, '');
    // White space may be a part of a value that spans lines.
    if (from === '' && to === '') return content + eol;
    const moved = content.startsWith(from) ? to + content.slice(from.length) : content.trimStart();
    return (moved.trim() === '' ? '' : moved) + eol;
  });
}

/** Tells whether lines say the same at whatever depth and with whatever terminators. */
export function isSameText(
  one: { readonly lines: readonly string[]; readonly indent: string },
  other: { readonly lines: readonly string[]; readonly indent: string },
): boolean {
  const [left, right] = [one, other].map(({ lines, indent }) =>
    transplant(lines, { from: indent, to: '', eol: '\n' }).join(''),
  );
  return left === right;
}

/** Returns a text's lines with their terminators. Joined, they are the text. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Joins lines to a text in which only the last may lack a terminator. */
export function joinLines(lines: readonly string[], eol: string): string {
  return lines
    .map((line, at) => (line.endsWith('\n') || at === lines.length - 1 ? line : line + eol))
    .join('');
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
