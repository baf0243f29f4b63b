import { widthOf, wrap } from '@patchclaw/claw/text';
import { Marked, type Token, type Tokens } from 'marked';
import { unlessNested } from '../../lib/markdown-guard.ts';
import { SHORT_WORDS } from '../../lib/markdown-words.ts';
import { printable } from './printable.ts';
import { renderInline, styled } from './styled-text.ts';
import { terminalCode } from './terminal-code.ts';

/**
 * Renders Markdown for a terminal with ANSI styles, its lines broken at spaces. Only the styles added here
 * reach the terminal.
 *
 * @param columns width of the terminal; Infinity breaks nothing
 */
export function renderMarkdown(text: string, columns: number): string {
  return unlessNested(
    printable(text),
    (markdown) =>
      renderBlocks(new Marked({ tokenizer: SHORT_WORDS }).lexer(markdown), '\n\n', columns),
    (plain) => wrap(plain, columns),
  );
}

function renderBlocks(tokens: readonly Token[], separator: string, columns: number): string {
  return tokens
    .filter((token) => token.type !== 'space' && token.type !== 'def')
    .map((token) => renderBlock(token, columns))
    .join(separator);
}

function renderBlock(token: Token, columns: number): string {
  switch (token.type) {
    case 'heading':
      return wrap(
        styled(['bold', 'underline'], renderInline((token as Tokens.Heading).tokens)),
        columns,
      );
    case 'paragraph':
      return wrap(renderInline((token as Tokens.Paragraph).tokens), columns);
    case 'text':
      return wrap(renderInline([token]), columns);
    case 'code':
      // Code to copy is not broken: the terminal wraps its long lines.
      return renderCode(token as Tokens.Code);
    case 'blockquote':
      return indent(
        renderBlocks((token as Tokens.Blockquote).tokens, '\n\n', columns - 2),
        styled('dim', '│ '),
      );
    case 'list':
      return renderList(token as Tokens.List, columns);
    case 'table':
      return renderTable(token as Tokens.Table, columns);
    case 'hr':
      return styled('dim', '─'.repeat(Math.min(20, columns)));
    default:
      return wrap(token.raw.trimEnd(), columns);
  }
}

/** The longest text that still makes a code which fits a terminal. */
const MAX_QR_CHARS = 500;

function renderCode({ lang, text }: Tokens.Code): string {
  const isQr = lang === 'qr' && text.length <= MAX_QR_CHARS;
  return isQr ? terminalCode(text.trim()) : indent(styled('cyan', text.trimEnd()), '    ');
}

function renderList(list: Tokens.List, columns: number): string {
  return list.items
    .map((item, index) => {
      const bullet = list.ordered ? `${Number(list.start || 1) + index}. ` : '• ';
      const done = item.task ? (item.checked ? '[x] ' : '[ ] ') : '';
      const tokens = item.tokens.filter((token) => token.type !== 'checkbox');
      const before = bullet.length + done.length;
      const body = renderBlocks(tokens, list.loose ? '\n\n' : '\n', columns - before);
      return bullet + done + indent(body, ' '.repeat(before)).slice(before);
    })
    .join(list.loose ? '\n\n' : '\n');
}

function indent(text: string, by: string): string {
  return text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}

/**
 * Returns a table with its columns aligned, and a rule below the head. One that is wider than the terminal
 * becomes a list of its rows, each cell with the head of its column, if that has one.
 */
function renderTable(table: Tokens.Table, columns: number): string {
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
      row
        .map((cell, at) => {
          const name = head[at] ?? '';
          return wrap(name === '' ? cell : `${styled('bold', `${name}:`)} ${cell}`, columns);
        })
        .join('\n'),
    )
    .join('\n\n');
}

function pad(cell: string, width: number, align: Tokens.TableCell['align'] | undefined): string {
  const space = ' '.repeat(width - widthOf(cell));
  return align === 'right' ? space + cell : cell + space;
}
