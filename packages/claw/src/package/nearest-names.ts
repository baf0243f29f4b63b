/**
 * Returns the candidates that a misspelled name may mean, nearest first, ties by name. They are a few typing
 * errors away (one for every three letters), or contain the name, or are contained in it. A typing error is a
 * letter too many, missing, replaced, or swapped with its neighbour.
 */
export function nearestNames(
  name: string,
  candidates: readonly string[],
  count: number,
): readonly string[] {
  return candidates
    .map((candidate) => ({ candidate, distance: distanceBetween(name, candidate) }))
    .filter(({ candidate, distance }) => isNear(name, candidate, distance))
    .sort(
      (one, other) => one.distance - other.distance || (one.candidate < other.candidate ? -1 : 1),
    )
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

function isNear(name: string, candidate: string, distance: number): boolean {
  const [shorter, longer] = name.length < candidate.length ? [name, candidate] : [candidate, name];
  const isPart = shorter.length >= 3 && longer.includes(shorter);
  return isPart || distance <= Math.floor(longer.length / 3);
}

// Source: Damerau–Levenshtein distance, in its form of optimal string alignment.
function distanceBetween(one: string, other: string): number {
  const rows: number[][] = [[...Array(other.length + 1).keys()]];
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = one[row - 1] === other[column - 1] ? 0 : 1;
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          cell(row - 1, column) + 1,
          cell(row, column - 1) + 1,
          cell(row - 1, column - 1) + replaced,
          row > 1 && column > 1 && isSwapped ? cell(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return cell(one.length, other.length);
}
