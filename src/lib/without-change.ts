/** A change of a text. */
export type TextChange = { readonly before: string; readonly after: string };

/**
 * Removes one change from a text that was changed again since. The place is found between the lines that `before` and
 * `after` share at their ends. Null if that place is not in the text exactly once: its lines were changed again, or
 * repeat.
 */
export function withoutChange(text: string, { before, after }: TextChange): string | null {
  if (text === after) return before;
  const [old, fresh, now] = [linesOf(before), linesOf(after), linesOf(text)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < fresh.length - head &&
    old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]
  )
    tail += 1;
  // A line on either side tells where lines were that are gone, and lines apart that are the same.
  const [above, below] = [Math.min(1, head), Math.min(1, tail)];
  const changed = fresh.slice(head - above, fresh.length - tail + below);
  const restored = old.slice(head - above, old.length - tail + below);
  const places = now
    .map((_, at) => at)
    .filter((at) => changed.every((line, index) => now[at + index] === line));
  const [place, another] = places;
  if (changed.length === 0 || place === undefined || another !== undefined) return null;
  return [...now.slice(0, place), ...restored, ...now.slice(place + changed.length)].join('');
}

/** Lines with their ends. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
