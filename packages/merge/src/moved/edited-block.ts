import { contentOf } from '../lines/lines.ts';

/** Unchanged lines beside an edit that tell which block was edited. */
const CONTEXT = 3;
/** Lines with a letter or digit without which a block is no particular one. */
const LEAST_WORDS = 2;

type Lines = readonly string[];

/** A block with an edit in it: its lines before and after, and where it began. */
export type EditedBlock = { readonly start: number; readonly before: Lines; readonly after: Lines };

/** Lines without their indentation, to be searched. */
export function trimmed(lines: Lines): Lines {
  return lines.map((line) => line.trim());
}

/**
 * Finds the block of `base` that was edited, by the longest run of lines around the edit that another text has
 * too, indentation apart. Null where that has it more than once, or not at all.
 *
 * @param other its lines, {@link trimmed}
 * @param fits tells whether a block at a line of that text will do; where it does not, one with fewer lines around
 *   the edit is looked for
 */
export function findEditedBlock(
  base: Lines,
  edited: Lines,
  other: Lines,
  fits: (block: EditedBlock, at: number) => boolean,
): { readonly block: EditedBlock; readonly at: number } | null {
  const { head, tail } = commonEnds(base, edited);
  const end = base.length - tail;
  if (end > head && placesOf(base.slice(head, end), other).length === 0) return null;
  for (let around = 2 * CONTEXT; around >= 0; around--) {
    for (let above = Math.min(around, CONTEXT, head); above >= 0; above--) {
      const below = around - above;
      if (below > Math.min(CONTEXT, tail)) break;
      // An insertion is told by what it stands between.
      if (end === head && (above === 0 || below === 0)) continue;
      const before = base.slice(head - above, end + below);
      const after = edited.slice(head - above, edited.length - tail + below);
      if (before.filter(isWord).length < LEAST_WORDS) continue;
      const places = placesOf(before, other);
      if (places.length > 1) return null;
      const [at] = places;
      const block = { start: head - above, before, after };
      if (at !== undefined && fits(block, at)) return { block, at };
    }
  }
  return null;
}

/**
 * Returns a text with a block as it was edited, in the text's own indentation; null where the edit does not
 * have the block's.
 */
export function withEdit(
  lines: Lines,
  { before, after }: EditedBlock,
  at: number,
): readonly string[] | null {
  const first = before.findIndex(isWord);
  const from = indentOf(before[first] ?? '');
  const to = indentOf(lines[at + first] ?? '');
  const isMovedAsOne = before.every((line, by) => {
    const there = contentOf(lines[at + by] ?? '');
    return line.trim() === '' || there === to + contentOf(line).slice(from.length);
  });
  const isInside = [...before, ...after].every(
    (line) => line.trim() === '' || line.startsWith(from),
  );
  if (!isMovedAsOne || !isInside) return null;
  const edited = after.map((line) => (line.trim() === '' ? line : to + line.slice(from.length)));
  return [...lines.slice(0, at), ...edited, ...lines.slice(at + before.length)];
}

/**
 * Returns the places where a text has a block, indentation apart.
 *
 * @param lines of the text, {@link trimmed}
 */
export function placesOf(block: Lines, lines: Lines): readonly number[] {
  const wanted = trimmed(block);
  const [first = ''] = wanted;
  const places: number[] = [];
  for (let at = lines.indexOf(first); at !== -1; at = lines.indexOf(first, at + 1)) {
    if (wanted.every((line, by) => lines[at + by] === line)) places.push(at);
  }
  return places;
}

function commonEnds(one: Lines, other: Lines) {
  const shorter = Math.min(one.length, other.length);
  const isSame = (a: number, b: number) => contentOf(one[a] ?? '') === contentOf(other[b] ?? '');
  let head = 0;
  while (head < shorter && isSame(head, head)) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(one.length - 1 - tail, other.length - 1 - tail)) tail++;
  return { head, tail };
}

function isWord(line: string): boolean {
  return /[A-Za-z0-9\x80-\xff]/.test(line);
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
