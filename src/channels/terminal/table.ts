import { stripVTControlCharacters } from 'node:util';
import type { Tokens } from 'marked';
import { renderInline, styled } from './inline.ts';

/** A table with its columns aligned, and a rule below the head. */
export function renderTable(table: Tokens.Table): string {
  const rows = [table.header, ...table.rows].map((row) =>
    row.map((cell) => renderInline(cell.tokens)),
  );
  const widths = table.header.map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const lines = rows.map((row) =>
    widths.map((width, column) => pad(row[column] ?? '', width, table.align[column])).join('  '),
  );
  const [head = '', ...body] = lines.map((line) => line.trimEnd());
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [styled('bold', head), styled('dim', rule), ...body].join('\n');
}

function pad(cell: string, width: number, align: Tokens.TableCell['align'] | undefined): string {
  const space = ' '.repeat(width - widthOf(cell));
  return align === 'right' ? space + cell : cell + space;
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}
