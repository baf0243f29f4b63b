import { Marked, type Token, type Tokens } from 'marked';

/**
 * Turns Markdown into mrkdwn, Slack's own notation. The characters that mean something to Slack are
 * escaped, so that no text can address a channel (`<!channel>`) or hide where a link leads.
 */
export function toMrkdwn(markdown: string): string {
  return blocks(new Marked().lexer(markdown));
}

/** Escapes the three characters that Slack gives a meaning. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
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
      return `*${inlines(token.tokens ?? [], { isBold: true })}*`;
    case 'paragraph':
    case 'text':
      return token.tokens === undefined ? escapeMrkdwn(token.raw) : inlines(token.tokens, PLAIN);
    case 'code':
      return fence(token.text);
    case 'blockquote':
      return blocks(token.tokens ?? []).replace(/^/gm, '> ');
    case 'list':
      return list(token as Tokens.List);
    case 'table':
      return fence(token.raw.trim());
    case 'hr':
      return '———';
    default:
      return escapeMrkdwn(token.raw.trimEnd());
  }
}

function fence(code: string): string {
  // Slack ends a block at the next three backticks, wherever they stand.
  return `\`\`\`\n${escapeMrkdwn(code.replaceAll('```', '``\u200b`'))}\n\`\`\``;
}

function list({ items, ordered, start }: Tokens.List): string {
  const first = typeof start === 'number' ? start : 1;
  return items
    .map((item, index) => {
      const mark = ordered ? `${first + index}.` : '•';
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const [head = '', ...nested] = item.tokens
        .filter(({ type }) => type !== 'space' && type !== 'checkbox')
        .map((token) =>
          token.type === 'list' ? block(token).replace(/^/gm, '    ') : block(token),
        );
      return [`${mark} ${box}${head}`, ...nested].join('\n');
    })
    .join('\n');
}

type Style = { readonly isBold: boolean };

const PLAIN: Style = { isBold: false };

function inlines(tokens: readonly Token[], style: Style): string {
  return tokens.map((token) => inline(token, style)).join('');
}

function inline(token: Token, style: Style): string {
  switch (token.type) {
    case 'strong': {
      const inner = inlines(token.tokens ?? [], { isBold: true });
      return style.isBold ? inner : `*${inner}*`;
    }
    case 'em':
      return `_${inlines(token.tokens ?? [], style)}_`;
    case 'del':
      return `~${inlines(token.tokens ?? [], style)}~`;
    case 'codespan':
      return `\`${escapeMrkdwn(token.text)}\``;
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, inlines(token.tokens ?? [], style));
    case 'image':
      return link(token.href, escapeMrkdwn(token.text));
    case 'escape':
      return escapeMrkdwn(token.text);
    case 'text':
      return token.tokens === undefined ? escapeMrkdwn(token.text) : inlines(token.tokens, style);
    default:
      return escapeMrkdwn(token.raw);
  }
}

/** Where a link leads that Slack would not follow must stand in the text. */
function link(href: string, label: string): string {
  if (!/^(https?|mailto):/i.test(href)) {
    return label === '' ? escapeMrkdwn(href) : `${label} (${escapeMrkdwn(href)})`;
  }
  const address = escapeMrkdwn(href).replaceAll('|', '%7C');
  return label === '' || label === address
    ? `<${address}>`
    : `<${address}|${label.replaceAll('\n', ' ')}>`;
}
