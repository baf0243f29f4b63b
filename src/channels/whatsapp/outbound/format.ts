import { Marked, type Token, type Tokens } from 'marked';
import { unlessNested } from '../../../lib/markdown-guard.ts';
import { splitMarkdown } from '../../parts.ts';

/** WhatsApp takes far more, but hides what is behind the first screens. */
const LIMIT = 4_000;

/** Turns Markdown of any length into messages that are read in order. Text without words gives none. */
export function formatParts(markdown: string, limit: number = LIMIT): readonly string[] {
  return splitMarkdown(markdown, limit)
    .map((part) => toWhatsApp(part))
    .filter((part) => part !== '');
}

/** Markdown in WhatsApp's dialect: one star for bold, underscores, tildes, no headings, links in full. */
export function toWhatsApp(markdown: string): string {
  const read = (text: string) => blocks(new Marked().lexer(text));
  return unlessNested(markdown, read, (plain) => plain).trim();
}

function blocks(tokens: readonly Token[]): string {
  let text = '';
  let separator = '';
  for (const token of tokens) {
    if (token.type === 'space') {
      separator = text === '' ? '' : '\n\n';
      continue;
    }
    text += separator + block(token);
    separator = '\n';
  }
  return text;
}

function block(token: Token): string {
  switch (token.type) {
    case 'heading':
      return marked('*', inlines(token.tokens ?? []).replaceAll('*', ''));
    case 'paragraph':
    case 'text':
      return token.tokens === undefined ? token.raw : inlines(token.tokens);
    case 'code':
      return `\`\`\`\n${token.text}\n\`\`\``;
    case 'blockquote':
      return blocks(token.tokens ?? []).replace(/^/gm, '> ');
    case 'list':
      return list(token as Tokens.List);
    case 'table':
      return `\`\`\`\n${token.raw.trim()}\n\`\`\``;
    case 'hr':
      return '———';
    case 'checkbox':
      return '';
    default:
      return token.raw.trimEnd();
  }
}

function list({ items, ordered, start }: Tokens.List): string {
  const first = typeof start === 'number' ? start : 1;
  return items
    .map((item, index) => {
      const mark = ordered ? `${first + index}.` : '-';
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const [head = '', ...nested] = item.tokens
        .filter(({ type }) => type !== 'space' && type !== 'checkbox')
        .map((token) => (token.type === 'list' ? block(token).replace(/^/gm, '  ') : block(token)));
      return [`${mark} ${box}${head}`, ...nested].join('\n');
    })
    .join('\n');
}

function inlines(tokens: readonly Token[]): string {
  return tokens.map(inline).join('');
}

function inline(token: Token): string {
  switch (token.type) {
    case 'strong':
      return marked('*', inlines(token.tokens ?? []));
    case 'em':
      return marked('_', inlines(token.tokens ?? []));
    case 'del':
      return marked('~', inlines(token.tokens ?? []));
    case 'codespan':
      return `\`${token.text}\``;
    case 'br':
      return '\n';
    case 'link':
    case 'image':
      return link(token.href, token.text);
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens === undefined ? token.text : inlines(token.tokens);
    default:
      return token.raw;
  }
}

/** A mark that stands beside a space, or around a line's end, is shown as it is. */
function marked(mark: string, text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line.replace(/^(\s*)(.*?)(\s*)$/, (_, before, inner, after) =>
        inner === '' ? line : `${before}${mark}${inner}${mark}${after}`,
      ),
    )
    .join('\n');
}

/** WhatsApp makes links of addresses, and has none behind words. */
function link(href: string, label: string): string {
  const address = href.replace(/^mailto:/, '');
  return label === '' || label === address || label === href ? address : `${label} (${address})`;
}
