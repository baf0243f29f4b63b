import { lexer, type Token, type Tokens } from 'marked';
import { renderInline, styled } from './inline.ts';
import { printable } from './printable.ts';
import { renderTable } from './table.ts';

/** Markdown for a terminal with ANSI styles. Only the styles put here reach the terminal. */
export function renderMarkdown(text: string): string {
  return renderBlocks(lexer(printable(text)), '\n\n');
}

function renderBlocks(tokens: readonly Token[], separator: string): string {
  return tokens
    .filter((token) => token.type !== 'space' && token.type !== 'def')
    .map((token) => renderBlock(token))
    .join(separator);
}

function renderBlock(token: Token): string {
  switch (token.type) {
    case 'heading':
      return styled(['bold', 'underline'], renderInline((token as Tokens.Heading).tokens));
    case 'paragraph':
      return renderInline((token as Tokens.Paragraph).tokens);
    case 'text':
      return renderInline([token]);
    case 'code':
      return indent(styled('cyan', (token as Tokens.Code).text.trimEnd()), '    ');
    case 'blockquote':
      return indent(renderBlocks((token as Tokens.Blockquote).tokens, '\n\n'), styled('dim', '│ '));
    case 'list':
      return renderList(token as Tokens.List);
    case 'table':
      return renderTable(token as Tokens.Table);
    case 'hr':
      return styled('dim', '─'.repeat(20));
    default:
      return token.raw.trimEnd();
  }
}

function renderList(list: Tokens.List): string {
  return list.items
    .map((item, index) => {
      const bullet = list.ordered ? `${Number(list.start || 1) + index}. ` : '• ';
      const done = item.task ? (item.checked ? '[x] ' : '[ ] ') : '';
      const tokens = item.tokens.filter((token) => token.type !== 'checkbox');
      const body = done + renderBlocks(tokens, list.loose ? '\n\n' : '\n');
      return bullet + indent(body, ' '.repeat(bullet.length)).trimStart();
    })
    .join(list.loose ? '\n\n' : '\n');
}

function indent(text: string, by: string): string {
  return text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}
