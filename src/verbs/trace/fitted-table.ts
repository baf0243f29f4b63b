import { graphemesOf } from '../../lib/graphemes.ts';

/** A table of plain text. The last column has no head, and may be cut. */
export type PlainTable = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** `l` or `r` for each column. */
  readonly sides: string;
  /** The column of models' names, which a narrow terminal shows without their prefix. */
  readonly named: string;
  /** Columns that a narrow terminal does without, the first one first. */
  readonly leaving: readonly string[];
};

const LEAST_REST = 20;

/**
 * Returns the lines of a table, as wide as the terminal at most: the last column is cut, then names lose their
 * prefix, then columns are left out, which a line at the end tells.
 */
export function fittedTable(table: PlainTable, columns: number | null): readonly string[] {
  if (columns === null || widthOf(table) <= columns) return linesOf(table, null);
  let narrow = withoutPrefixes(table);
  const left: string[] = [];
  for (const name of table.leaving) {
    if (widthOf(narrow) <= columns) break;
    narrow = without(narrow, name);
    left.push(name);
  }
  const counted = `${left.length} more column${left.length === 1 ? '' : 's'}`;
  const told = left.length === 0 ? [] : [`(${counted} on a wider terminal, or with --json)`];
  return [...linesOf(narrow, columns), ...told];
}

/** Returns the width with as much of the last column as has to stay. */
function widthOf(table: PlainTable): number {
  const widths = widthsOf(table);
  const rest = widths.at(-1) ?? 0;
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return others + Math.min(rest, LEAST_REST);
}

function widthsOf({ head, rows }: PlainTable): readonly number[] {
  return head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => [...(row[column] ?? '')].length)),
  );
}

function withoutPrefixes(table: PlainTable): PlainTable {
  const at = table.head.indexOf(table.named);
  const rows = table.rows.map((row) => row.with(at, (row[at] ?? '').replace(/^.*\//, '')));
  return { ...table, rows };
}

function without(table: PlainTable, name: string): PlainTable {
  const at = table.head.indexOf(name);
  const { head, rows, sides } = table;
  return {
    ...table,
    head: head.toSpliced(at, 1),
    rows: rows.map((row) => row.toSpliced(at, 1)),
    sides: [...sides].toSpliced(at, 1).join(''),
  };
}

function linesOf(table: PlainTable, columns: number | null): readonly string[] {
  const widths = widthsOf(table);
  return [table.head, ...table.rows].map((row) => {
    const cells = row.map((cell, column) => {
      const gap = ' '.repeat((widths[column] ?? 0) - [...cell].length);
      return table.sides[column] === 'r' ? gap + cell : cell + gap;
    });
    const line = cells.join('  ').trimEnd();
    const signs = graphemesOf(line);
    if (columns === null || signs.length <= columns) return line;
    return [...signs.slice(0, Math.max(columns - 1, 1)), '…'].join('');
  });
}
