/** A line that two layouts begin with the same word: where it is, and its indentation in both. */
export type Pair = { readonly index: number; readonly from: string; readonly to: string };

/** Compares the indentation of the gaps before one word in two layouts; null where one starts no line. */
export function pairOf(index: number, from: string, to: string): Pair | null {
  const indents = { from: indentOf(from), to: indentOf(to) };
  if (indents.from === null || indents.to === null) return null;
  return { index, from: indents.from, to: indents.to };
}

/** Returns a gap of the first layout with its last line indented as the lines around it are in the second. */
export function reindent(gap: string, index: number, pairs: readonly Pair[]): string {
  const indent = indentOf(gap);
  if (indent === null) return gap;
  const same = nearest(index, pairs, ({ from }) => from === indent);
  const outer = same ?? nearest(index, pairs, ({ from }) => indent.startsWith(from));
  if (outer === null) return gap;
  const deeper = indent.slice(outer.from.length);
  return gap.slice(0, gap.length - indent.length) + outer.to + restep(deeper, pairs);
}

/** Converts indentation beyond both known layouts into steps of the second one. */
function restep(deeper: string, pairs: readonly Pair[]): string {
  const steps = pairs.filter(({ from }) => from !== '');
  const [step] = steps.toSorted((one, other) => one.from.length - other.from.length);
  return step === undefined ? deeper : deeper.replaceAll(step.from, step.to);
}

function nearest(
  index: number,
  pairs: readonly Pair[],
  isFit: (pair: Pair) => boolean,
): Pair | null {
  let best: Pair | null = null;
  for (const pair of pairs) {
    if (!isFit(pair)) continue;
    if (best === null || Math.abs(pair.index - index) < Math.abs(best.index - index)) best = pair;
  }
  return best;
}

/** Returns the indentation that a gap ends with; null where it starts no line. */
function indentOf(gap: string): string | null {
  return /\n([ \t]*)$/.exec(gap)?.[1] ?? null;
}
