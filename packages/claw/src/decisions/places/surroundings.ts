import type { Versions } from '@patchclaw/merge';

/** Lines beside a place that are shown, unless it needs more of them to be whole. */
const SHOWN = 2;
const MOST = 8;

type Sides = Versions<readonly string[]>;
type Around = { readonly above: readonly string[]; readonly below: readonly string[] };

/**
 * Returns the lines around a place that are shown with it: no further than the declaration it stands in, but
 * up to the lines where brackets begin that a side closes, and end that it opens.
 */
export function surroundings({ above, below }: Around, sides: Sides): Around {
  const needs = [sides.base, sides.ours, sides.theirs].map((lines) => bracketsIn(lines.join('')));
  const closed = Math.max(...needs.map(({ least }) => -least));
  const opened = Math.max(...needs.map(({ net, least }) => net - least));
  const indent = indentOf([...sides.ours, ...sides.theirs, ...sides.base]);
  return {
    above: within(above.toReversed(), closed, { indent, sign: -1 }).toReversed(),
    below: within(below, opened, { indent, sign: 1 }),
  };
}

function within(
  lines: readonly string[],
  brackets: number,
  { indent, sign }: { readonly indent: number; readonly sign: 1 | -1 },
): readonly string[] {
  const taken: string[] = [];
  let missing = brackets;
  for (const line of lines.slice(0, MOST)) {
    const isBlank = line.trim() === '';
    if (missing <= 0 && (taken.length >= SHOWN || isBlank)) break;
    taken.push(line);
    missing += sign * bracketsIn(line).net;
    const isEdge = !isBlank && line.length - line.trimStart().length < indent;
    if (missing <= 0 && isEdge) break;
  }
  while (taken.at(-1)?.trim() === '') taken.pop();
  return taken;
}

function indentOf(lines: readonly string[]): number {
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  return indents.length === 0 ? 0 : Math.min(...indents);
}

/** Counts brackets: opened less closed, and the lowest that this came to. */
function bracketsIn(text: string): { readonly net: number; readonly least: number } {
  let [net, least] = [0, 0];
  for (const character of text) {
    if ('{(['.includes(character)) net++;
    else if ('})]'.includes(character)) least = Math.min(least, --net);
  }
  return { net, least };
}
