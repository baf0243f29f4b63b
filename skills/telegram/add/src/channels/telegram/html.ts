import { Marked, type Token, type Tokens } from 'marked';

/**
 * Turns Markdown into the HTML that Telegram takes: b, i, s, code, pre, a and blockquote, nothing else,
 * with all other characters escaped. Layout stays as it was written, since Telegram shows line ends.
 */
export function toTelegramHtml(markdown: string): string {
  return blocks(new Marked().lexer(markdown), { isQuoted: false });
}

/** The text that is left of Telegram's HTML when it is shown; the limits of the Bot API count this. */
export function visibleText(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

type Place = { readonly isQuoted: boolean };

function blocks(tokens: readonly Token[], place: Place): string {
  let html = '';
  let separator = '';
  for (const token of tokens) {
    if (token.type === 'space') {
      separator = html === '' ? '' : '\n\n';
      continue;
    }
    html += separator + block(token, place);
    separator = '\n';
  }
  return html;
}

function block(token: Token, place: Place): string {
  switch (token.type) {
    case 'heading':
      return `<b>${inlines(token.tokens ?? [])}</b>`;
    case 'paragraph':
    case 'text':
      return token.tokens === undefined ? escapeHtml(token.raw) : inlines(token.tokens);
    case 'code':
      return code(token as Tokens.Code);
    case 'blockquote': {
      const inner = blocks(token.tokens ?? [], { isQuoted: true });
      // Telegram refuses a quotation inside another.
      return place.isQuoted ? inner : `<blockquote>${inner}</blockquote>`;
    }
    case 'list':
      return list(token as Tokens.List, place);
    case 'table':
      return `<pre>${escapeHtml(token.raw.trim())}</pre>`;
    case 'hr':
      return '———';
    case 'checkbox':
      return '';
    default:
      return escapeHtml(token.raw.trimEnd());
  }
}

function code({ lang, text }: Tokens.Code): string {
  const language = /^[\w+#-]+/.exec(lang ?? '')?.[0];
  return language === undefined
    ? `<pre>${escapeHtml(text)}</pre>`
    : `<pre><code class="language-${language}">${escapeHtml(text)}</code></pre>`;
}

function list({ items, ordered, start }: Tokens.List, place: Place): string {
  const first = typeof start === 'number' ? start : 1;
  return items
    .map((item, index) => {
      const mark = ordered ? `${first + index}.` : '•';
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const [head = '', ...nested] = item.tokens
        .filter(({ type }) => type !== 'space' && type !== 'checkbox')
        .map((token) =>
          token.type === 'list' ? block(token, place).replace(/^/gm, '  ') : block(token, place),
        );
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
      return `<b>${inlines(token.tokens ?? [])}</b>`;
    case 'em':
      return `<i>${inlines(token.tokens ?? [])}</i>`;
    case 'del':
      return `<s>${inlines(token.tokens ?? [])}</s>`;
    case 'codespan':
      return `<code>${escapeHtml(token.text)}</code>`;
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, inlines(token.tokens ?? []));
    case 'image':
      return link(token.href, escapeHtml(token.text));
    case 'escape':
      return escapeHtml(token.text);
    case 'text':
      return token.tokens === undefined ? escapeHtml(token.text) : inlines(token.tokens);
    default:
      return escapeHtml(token.raw);
  }
}

/** Telegram drops links to anything but these; where one leads must then stand in the text. */
function link(href: string, label: string): string {
  const address = escapeHtml(href);
  if (label === '' || label === address) return address;
  return /^(https?|tg|mailto):/i.test(href)
    ? `<a href="${address}">${label}</a>`
    : `${label} (${address})`;
}

/** Escapes everything that means something in HTML. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
