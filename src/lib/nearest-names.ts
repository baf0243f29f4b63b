/**
 * Returns the names that are the fewest edits away from `name`, nearest first, at most `count` of them, and
 * none that is clearly farther than the nearest or shares little with it: at most a third of the letters may
 * differ, one in a short name. A parameter (`<…>`) at a name's end does not count.
 */
export function nearestNames(
  name: string,
  names: readonly string[],
  count: number,
): readonly string[] {
  const sorted = names
    .map((candidate) => {
      const written = candidate.replace(/<[^>]*>$/, '');
      return { candidate, distance: editDistance(name, written) };
    })
    .sort((one, other) => one.distance - other.distance);
  const near = Math.max(1, Math.floor(name.length / 3));
  const limit = Math.min((sorted[0]?.distance ?? 0) + 1, near);
  return sorted
    .filter(({ distance }) => distance <= limit)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Insertions, deletions, substitutions and swaps of neighbours between two short texts. */
function editDistance(one: string, other: string): number {
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 0; row < one.length; row++) {
    const current = [row + 1];
    for (let column = 0; column < other.length; column++) {
      const isSwap = row > 0 && one[row] === other[column - 1] && one[row - 1] === other[column];
      current.push(
        Math.min(
          (previous[column + 1] ?? 0) + 1,
          (current[column] ?? 0) + 1,
          (previous[column] ?? 0) + Number(one[row] !== other[column]),
          isSwap ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, previous] = [previous, current];
  }
  return previous.at(-1) ?? 0;
}
