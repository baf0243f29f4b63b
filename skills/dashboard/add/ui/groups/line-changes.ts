/** A line of a change: in both texts, only in the older or only in the newer one. */
export type LineChange = { readonly kind: 'same' | 'removed' | 'added'; readonly line: string };

/** Longer texts between the lines that both share at their ends are shown as a whole, old before new. */
const MOST_CELLS = 4_000_000;
const CONTEXT = 3;

/** Compares two texts line by line, and returns the changes with three lines around them. */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (
    tail < Math.min(old.length, fresh.length) - head &&
    old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]
  )
    tail += 1;
  const same = (lines: readonly string[]): LineChange[] =>
    lines.map((line) => ({ kind: 'same', line }));
  const middle = between(
    old.slice(head, old.length - tail),
    fresh.slice(head, fresh.length - tail),
  );
  return [
    ...same(old.slice(Math.max(0, head - CONTEXT), head)),
    ...middle,
    ...same(old.slice(old.length - tail, old.length - tail + CONTEXT)),
  ];
}

/** The longest lines in common, by the table of all pairs. */
function between(old: readonly string[], fresh: readonly string[]): readonly LineChange[] {
  const removed = old.map((line): LineChange => ({ kind: 'removed', line }));
  const added = fresh.map((line): LineChange => ({ kind: 'added', line }));
  const width = fresh.length + 1;
  if ((old.length + 1) * width > MOST_CELLS) return [...removed, ...added];
  const shared = new Uint32Array((old.length + 1) * width);
  const cell = (row: number, column: number) => shared[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      shared[row * width + column] =
        old[row] === fresh[column]
          ? cell(row + 1, column + 1) + 1
          : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const changes: LineChange[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    const [line, other] = [old[row], fresh[column]];
    if (line !== undefined && line === other) {
      changes.push({ kind: 'same', line });
      row += 1;
      column += 1;
    } else if (
      line !== undefined &&
      (other === undefined || cell(row + 1, column) >= cell(row, column + 1))
    ) {
      changes.push({ kind: 'removed', line });
      row += 1;
    } else {
      changes.push({ kind: 'added', line: other ?? '' });
      column += 1;
    }
  }
  return changes;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
