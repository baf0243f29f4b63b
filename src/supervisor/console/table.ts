import { widthOf, wrap } from '@patchclaw/claw/text';
import type { Tokens } from 'marked';
import { renderInline, styled } from './inline.ts';

/**
 * Returns a table with its columns aligned, and a rule below the head. One that is wider than the terminal
 * becomes a list of its rows, each cell with the head of its column.
 */
export function renderTable(table: Tokens.Table, columns: number): string {
  const rows = [table.header, ...table.rows].map((row) =>
    row.map((cell) => renderInline(cell.tokens)),
  );
  const widths = table.header.map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  if (rule.length > columns) return renderRecords(rows, columns);
  const lines = rows.map((row) =>
    widths.map((width, column) => pad(row[column] ?? '', width, table.align[column])).join('  '),
  );
  const [head = '', ...body] = lines.map((line) => line.trimEnd());
  return [styled('bold', head), styled('dim', rule), ...body].join('\n');
}

function renderRecords([head = [], ...body]: readonly (readonly string[])[], columns: number) {
  return body
    .map((row) =>
      row.map((cell, at) => wrap(`${styled('bold', `${head[at]}:`)} ${cell}`, columns)).join('\n'),
    )
    .join('\n\n');
}

function pad(cell: string, width: number, align: Tokens.TableCell['align'] | undefined): string {
  const space = ' '.repeat(width - widthOf(cell));
  return align === 'right' ? space + cell : cell + space;
}
